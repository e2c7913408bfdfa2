"""The shim under threads that come at the wrong moment; a JVM of its own, and no Spark in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.shim.main import run_main

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.spark
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
    told = run_main("Schedules", tmp_path)
    assert {name: told.get(name) for name in OUTCOMES} == OUTCOMES
