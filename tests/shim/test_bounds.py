"""What executors may cost the driver: each limit is reached, and named when it is passed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from holdfast.settings import GIB, MIB
from holdfast.spark.tickets import FILE_BYTES_MAX, PARTS_MAX, part_count
from tests.shim.main import run_main

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.spark
SIZES = [1, 128 * MIB - 1, 128 * MIB, 16 * GIB, 16 * GIB + 1, 100 * GIB, FILE_BYTES_MAX]
LIMITED = "MisuseError: {} are limited to {}, not {}"
OUTCOMES = {
    "a file at the limit": "ok",
    "a file beyond the limit": LIMITED.format("bytes of a message", 67371008, 67371009),
    "a message at the limit": "a message is longer than it says",
    "a message beyond the limit": LIMITED.format("bytes of a message", 262144, 262145),
    "a listing at the limit": "ok",
    "a listing beyond the limit": LIMITED.format("bytes of a listing", 33554432, 33554454),
    "an upload beyond the limit": LIMITED.format("uploads of a query", 100000, 100001),
    "an upload after one was published": "ok",
    "reply 3": "ask again",
    "a reply beyond the limit": LIMITED.format("answers that executors have not fetched", 3, 4),
    "a reply while too many bytes wait": "ask again not begun",
    "the reply that waited": "11 bytes",
    "the next reply": "ok",
    "a request while all threads work": "ask again",
    "the same request later": "ok",
    "a request after the end": "MisuseError: the Spark context was stopped",
    "answered while Python hangs": "40 of 40",
    "a message of another class": "7",
}


def test_each_limit_holds_and_names_itself(tmp_path: Path) -> None:
    """In the driver's classes, with a Python that says yes, hangs, or ends by an Error."""
    told = run_main("Bounds", tmp_path, *map(str, SIZES))
    assert {name: told.get(name) for name in OUTCOMES} == OUTCOMES
    assert "OutOfMemoryError: on purpose" in told["an Error behind a message"]
    parts = {size: int(told[f"parts of {size}"].split()[0]) for size in SIZES}
    assert parts == {size: part_count(size) for size in SIZES}
    assert max(parts.values()) == PARTS_MAX
