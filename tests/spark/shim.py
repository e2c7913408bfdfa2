"""The jar that tests run is made of the Java that is here."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import holdfast

_JAR = Path(holdfast.__file__).parent / "spark" / "holdfast-shim.jar"
_SOURCES = Path(__file__).parents[2] / "jvm-shim"


class StaleShimError(Exception):
    """What a test finds of an old jar says nothing."""


@cache
def require_fresh_shim() -> None:
    """As `make` decides it.

    Raises:
        StaleShimError: a Java file has changed since the jar was built.
    """
    built = _JAR.stat().st_mtime if _JAR.exists() else 0.0
    newer = [
        path.name for path in _SOURCES.glob("*/holdfast/*.java") if path.stat().st_mtime > built
    ]
    if newer:
        raise StaleShimError(f"run `python jvm-shim/shim.py` first: newer than the jar are {newer}")
