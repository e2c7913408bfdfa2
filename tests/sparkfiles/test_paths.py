"""Names below a checkpoint's root, and what an offset log tells."""

from __future__ import annotations

import pytest

from holdfast.sparkfiles.offsets import parse_offsets
from holdfast.sparkfiles.paths import is_left_behind, log_batches, needed_at_start


@pytest.mark.parametrize(
    "path",
    [
        ".metadata.crc",
        "offsets/.5.crc",
        "state/0/0/.1_a.changelog.crc.crc",
        "commits/.7.0a1b2c.tmp",
        "state/0/0/temp-123.tmp",
        "_SUCCESS",
    ],
)
def test_temporary_files_and_hadoops_checksums_are_left_behind(path: str) -> None:
    """Also a twin of a twin."""
    assert is_left_behind(path)


@pytest.mark.parametrize(
    "path", ["metadata", "state/0/0/1_a.changelog.crc", "sources/0/9.compact", "state/0/0/1.zip"]
)
def test_sparks_own_checksums_are_needed(path: str) -> None:
    """Without one, Spark trusts the file unchecked."""
    assert not is_left_behind(path)


def test_logs_are_ordered_as_numbers() -> None:
    """10 comes after 9."""
    paths = ["offsets/9", "offsets/10", "commits/9", "offsets/x", "sources/0/11"]
    assert log_batches(paths, "offsets") == [9, 10]


def test_a_start_needs_the_ends_of_the_logs_and_the_newest_state() -> None:
    """Everything else can come later."""
    old = {"offsets/1", "commits/1", "state/0/0/1.delta", "state/0/0/1.snapshot", "sources/0/1"}
    new = {"offsets/8", "offsets/9", "commits/8", "commits/9", "metadata", "sources/0/2.compact"}
    state = {"state/0/0/5.snapshot", "state/0/0/6.delta", "state/1/0/2_a.zip"}
    assert needed_at_start(old | new | state) == new | state


def test_an_offset_log_tells_where_sources_stand() -> None:
    """Version 1 by index; `-` is a source without offset."""
    conf = '"conf":{"spark.sql.shuffle.partitions":"4"}'
    body = f'v1\n{{"batchWatermarkMs":70,{conf}}}\n{{"logOffset":2}}\n-'
    found = parse_offsets(body.encode())
    assert (found.ends, found.watermark_ms, found.partitions) == ({"0": '{"logOffset":2}'}, 70, 4)


@pytest.mark.parametrize("body", [b"", b"v1", b"v1\nnot json\n5", b"v1\n[]\n5", b"\xff\xfe"])
def test_an_offset_log_that_is_not_understood_tells_nothing(body: bytes) -> None:
    """Nothing is decided by it."""
    found = parse_offsets(body)
    assert (found.watermark_ms, found.partitions) == (None, None)
