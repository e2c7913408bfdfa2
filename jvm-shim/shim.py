"""Compile the shim against an installed Spark, and put its jar into the Python package.

Run by the package's build (`hatch_build.py`), by `make`, or by hand: python jvm-shim/shim.py
Needs a JDK (javac), and Spark's jars: of an installed pyspark, or of SPARK_HOME.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PACKAGE = HERE.parent / "python" / "holdfast"
JAR = PACKAGE / "spark" / "holdfast-shim.jar"
_PROVIDER_SINCE = (4, 2)
_LINT = "-Xlint:all,-path,-options,-classfile"
_EPOCH = (1980, 1, 1, 0, 0, 0)


class CannotBuildError(Exception):
    """What is missing, and what to do."""


def spark_jars() -> Path | None:
    """The directory with Spark's jars, if one is at hand."""
    homes = [os.environ.get("SPARK_HOME", "")]
    spec = importlib.util.find_spec("pyspark")
    homes += list(spec.submodule_search_locations or []) if spec else []
    found = (Path(home) / "jars" for home in homes if home)
    return next((jars for jars in found if any(jars.glob("spark-sql_*.jar"))), None)


def javac() -> str:
    """The compiler.

    Raises:
        CannotBuildError: there is no JDK.
    """
    home = os.environ.get("JAVA_HOME")
    candidate = shutil.which("javac", path=str(Path(home) / "bin")) if home else None
    found = candidate or shutil.which("javac")
    if found is None:
        raise CannotBuildError(
            "no javac: install a JDK (8 or newer), or set JAVA_HOME, and install again"
        )
    return found


def build() -> Path:
    """Compile everything that this Spark can carry; returns the jar.

    Raises:
        CannotBuildError: no JDK, no Spark, or the code does not compile.
    """
    compiler, jars = javac(), spark_jars()
    if jars is None:
        raise CannotBuildError("no Spark: install pyspark, or set SPARK_HOME")
    sources = sorted((HERE / "src").rglob("*.java"))
    if _version(jars) >= _PROVIDER_SINCE:
        sources += sorted((HERE / "provider").rglob("*.java"))
    with tempfile.TemporaryDirectory() as scratch:
        classes = Path(scratch)
        command = [compiler, "--release", "8", _LINT, "-Werror", "-cp", f"{jars}/*", "-d", scratch]
        done = subprocess.run(
            [*command, *map(str, sources)], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise CannotBuildError(f"the shim does not compile:\n{done.stderr}")
        (classes / "holdfast" / "version").write_text(_holdfast_version())
        _pack(classes)
    return JAR


def _version(jars: Path) -> tuple[int, int]:
    name = next(jars.glob("spark-sql_*.jar")).name
    found = re.search(r"_[\d.]+-(\d+)\.(\d+)", name)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def _holdfast_version() -> str:
    text = (PACKAGE / "version.py").read_text()
    return re.findall(r'VERSION = "([^"]+)"', text)[0]


def _pack(classes: Path) -> None:
    """The same classes always give the same bytes."""
    partial = JAR.with_suffix(".part")
    with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as jar:
        for path in sorted(path for path in classes.rglob("*") if path.is_file()):
            entry = zipfile.ZipInfo(path.relative_to(classes).as_posix(), date_time=_EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            jar.writestr(entry, path.read_bytes())
    partial.replace(JAR)


if __name__ == "__main__":
    try:
        build()
    except CannotBuildError as error:
        sys.exit(f"jvm-shim: {error}")
