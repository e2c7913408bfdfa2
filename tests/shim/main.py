"""Runs a class of `tests/shim/java` in a JVM of its own: the shim's classes, and no Spark."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pyspark

from holdfast.jobfiles import jar_path
from tests.compiled import build
from tests.spark.shim import require_fresh_shim

_JAVA = Path(__file__).with_name("java")


def run_main(
    name: str, folder: Path, *arguments: str, options: tuple[str, ...] = ()
) -> dict[str, str]:
    """What it printed, line by line: a name, a colon, an outcome."""
    require_fresh_shim()
    jar = build(_JAVA, folder / "tests.jar", against=str(jar_path()))
    spark = f"{Path(pyspark.__file__).parent / 'jars'}/*"
    path = os.pathsep.join((str(jar), str(jar_path()), spark))
    ran = subprocess.run(
        ["java", *options, "-cp", path, f"holdfast.{name}", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    return dict(line.split(": ", 1) for line in ran.stdout.splitlines() if ": " in line)
