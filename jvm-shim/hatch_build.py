"""The package's build hook: a wheel, or an editable install, gets the shim's jar."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

sys.path.insert(0, str(Path(__file__).resolve().parent))
import shim

WITHOUT = "HOLDFAST_WITHOUT_SHIM"


class ShimHook(BuildHookInterface):
    """Compiles the shim; without a JDK there is no package, unless one without it is asked for."""

    PLUGIN_NAME = "holdfast-shim"

    def dependencies(self) -> list[str]:
        """Spark's classes, where none are at hand and a JDK could use them."""
        has_javac = shutil.which("javac") is not None
        return ["pyspark>=4.2,<5"] if has_javac and shim.spark_jars() is None else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called before files are collected."""
        del version
        try:
            jar = shim.build()
        except shim.CannotBuildError as error:
            if not os.environ.get(WITHOUT):
                raise RuntimeError(
                    f"the jar that Spark needs cannot be built: {error}\n"
                    f"Set {WITHOUT}=1 to go without it: only the command line works then."
                ) from None
            self.app.display_warning(f"holdfast is built without its JVM shim: {error}")
            return
        build_data["artifacts"].append(str(jar.relative_to(self.root)))
