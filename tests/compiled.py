"""Java that tests and benches bring along, compiled against the installed Spark."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import zipfile
from pathlib import Path

import pyspark

_LINT = "-Xlint:all,-path,-options,-classfile"


def build(sources: Path, jar: Path, *, against: str = "") -> Path:
    """Compile all the Java below a folder into a jar, against Spark's jars and another path.

    Raises:
        CalledProcessError: it does not compile; the compiler has said why.
        FileNotFoundError: there is no JDK.
    """
    jars = Path(pyspark.__file__).parent / "jars"
    home = os.environ.get("JAVA_HOME")
    compiler = shutil.which("javac", path=str(Path(home) / "bin") if home else None)
    if compiler is None:
        raise FileNotFoundError("no javac: install a JDK, or set JAVA_HOME")
    with tempfile.TemporaryDirectory() as scratch:
        classes = f"{jars}/*{os.pathsep}{against}"
        command = [compiler, "--release", "8", _LINT, "-Werror", "-cp", classes, "-d", scratch]
        found = [str(path) for path in sorted(sources.rglob("*.java"))]
        subprocess.run([*command, *found], check=True)
        jar.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(jar, "w") as made:
            for path in sorted(Path(scratch).rglob("*.class")):
                made.write(path, path.relative_to(scratch))
    return jar
