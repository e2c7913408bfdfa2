"""`make lines`: one jar, every line of Spark; each in an environment of its own, kept in the cache.

python -m tests.lines [VERSION …] [--delta]
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console

LINES = ("3.5.*", "4.0.*", "4.1.*", "4.2.*")
DELTA_LINE = "4.1.*"
ROOT = Path(__file__).parents[2]
NEEDED = ("boto3", "google-crc32c", "lz4", "orjson", "rich", "setuptools", "typer")

console = Console(highlight=False)


def main(words: list[str]) -> int:
    versions = [word for word in words if not word.startswith("--")] or list(LINES)
    failed = [version for version in versions if not run(version, "smoke.py")]
    if "--delta" in words and not run(DELTA_LINE, "delta.py"):
        failed.append("delta")
    return 1 if failed else 0


def run(version: str, script: str) -> bool:
    python = environment(version)
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [str(python), str(Path(__file__).with_name(script)), folder],
            env={**os.environ, "PYTHONPATH": str(ROOT / "python"), "PYSPARK_PYTHON": str(python)},
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
    if done.returncode:
        console.print(f"[red]Spark {version}: {script} failed[/]")
        console.print(done.stdout[-2000:] + done.stderr[-4000:], markup=False)
        return False
    console.print(done.stdout.strip().splitlines()[-1])
    return True


def environment(version: str) -> Path:
    """The Python of an environment that has this Spark; made once."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = base / "holdfast" / "lines" / version.rstrip(".*")
    python, ready = folder / "bin" / "python", folder / "ready"
    if not ready.exists():
        console.print(f"Spark {version}: an environment is made, once: some 400 MB …")
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        packages = [*NEEDED, f"pyspark=={version}"]
        subprocess.run([str(python), "-m", "pip", "install", "-q", *packages], check=True)
        ready.touch()
    return python


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
