"""The shim under threads that come at the wrong moment; a JVM of its own, and no Spark in it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pyspark
import pytest

from holdfast.jobfiles import jar_path
from tests.compiled import build

pytestmark = pytest.mark.spark
JAVA = Path(__file__).with_name("java")
OUTCOMES = {
    "a gate that ends by an Error": "refused",
    "a draft that was swept": "refused",
    "two starts on one thread": "claimed anew",
    "a reader slower than a start": "stays",
    "an attempt that was replaced": "attempt B",
    "more state than the spool has room for": "all read",
    "a large file that came too late": "left behind",
    "a large file whose attempt died": "left behind",
    "parts that were not put together": "published when finished",
}


def test_no_schedule_loses_or_invents_a_file(tmp_path: Path) -> None:
    """Each was found by reading, and lost a file, or showed a wrong one, before it was mended."""
    jar = build(JAVA, tmp_path / "schedules.jar", against=str(jar_path()))
    spark = f"{Path(pyspark.__file__).parent / 'jars'}/*"
    path = os.pathsep.join((str(jar), str(jar_path()), spark))
    ran = subprocess.run(
        ["java", "-cp", path, "holdfast.Schedules"],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    said = dict(line.split(": ", 1) for line in ran.stdout.splitlines() if ": " in line)
    assert {name: said.get(name) for name in OUTCOMES} == OUTCOMES
