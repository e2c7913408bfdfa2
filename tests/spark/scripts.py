"""Python code run as a program of its own, with a small Spark."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

SMALL = (
    "--conf spark.sql.shuffle.partitions=2 --conf spark.ui.enabled=false "
    "--conf spark.driver.host=127.0.0.1 pyspark-shell"
)


def run_script(code: str, folder: Path) -> str:
    """What it prints."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={**os.environ, "PYSPARK_SUBMIT_ARGS": SMALL},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout
