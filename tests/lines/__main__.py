"""`make lines`: one jar, every line of Spark; each in an environment of its own, kept in the cache.

A query runs on each, and what `holdfast.start` hashes is compared between two processes.

python -m tests.lines [VERSION …] [--delta]
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from rich.console import Console

from tests.lines.plans import describe_twice, unseen, unstable

LINES = ("3.5.*", "4.0.*", "4.1.*", "4.2.*")
DELTA_LINE = "4.1.*"
ROOT = Path(__file__).parents[2]
NEEDED = (
    "boto3", "google-crc32c", "lz4", "orjson", "pandas<3", "pyarrow", "rich", "setuptools", "typer",
)  # fmt: skip

console = Console(highlight=False)


def main(words: list[str]) -> int:
    versions = [word for word in words if not word.startswith("--")] or list(LINES)
    failed = [version for version in versions if not run(version, "smoke.py")]
    failed += compare_plans([*map(environment, versions), Path(sys.executable)])
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


def compare_plans(pythons: list[Path]) -> list[str]:
    """The lines on which two processes do not describe every kind of query alike.

    Says also which descriptions differ from those of the line before.
    """
    failed, before = [], None
    with tempfile.TemporaryDirectory() as folder:  # one for all: its path is in the descriptions
        for python in pythons:
            first, second = describe_twice(python, Path(folder))
            wrong = [*unstable(first, second), *unseen(first)]
            if wrong:
                failed.append(f"plans of {first['spark']}")
            console.print(_plans_text(first, wrong, before))
            before = first
    return failed


def _plans_text(found: dict[str, Any], wrong: list[str], before: dict[str, Any] | None) -> str:
    text = f"Spark {found['spark']}: {len(found['kinds'])} kinds of query described"
    if wrong:
        return f"[red]{text}; not the same twice, or blind to a change: {', '.join(wrong)}[/]"
    if before is None:
        return f"{text}, each the same twice"
    older, newer = before["kinds"], found["kinds"]
    changed = [name for name in newer if name in older and older[name] != newer[name]]
    names = ", ".join(changed) or "none"
    return f"{text}, each the same twice; not as on {before['spark']}: {names}"


def environment(version: str) -> Path:
    """The Python of an environment that has this Spark; made once."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = base / "holdfast" / "lines" / version.rstrip(".*")
    python, ready = folder / "bin" / "python", folder / "ready"
    packages = [*NEEDED, f"pyspark=={version}"]
    if not ready.exists() or ready.read_text() != "\n".join(packages):
        console.print(f"Spark {version}: an environment is made, once: some 400 MB …")
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", *packages], check=True)
        ready.write_text("\n".join(packages))
    return python


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
