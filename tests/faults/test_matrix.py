"""A sample of the fault matrix: every rule and every step at least once, with a real query."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.spark
@pytest.mark.s3
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_query_goes_on_or_stops_clearly_and_resumes_exactly() -> None:
    """In a process of its own: it needs a Spark session with settings of its own."""
    run = subprocess.run(
        [sys.executable, "-m", "tests.faults", "--sample"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-4000:] + run.stderr[-2000:]
