"""The smaller nouns of the adapter: options, offsets, paths, the spool, modes, tickets."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from holdfast.chain.context import Context
from holdfast.errors import BridgeError, ConfigError, MisuseError
from holdfast.objectstore import LocalStore, MemoryStore
from holdfast.spark.answers import parse_object_ref
from holdfast.spark.modes import check_mode, parse_thread
from holdfast.spark.options import parse_bytes, parse_options
from holdfast.spark.spool import SpoolRoot
from holdfast.spark.tickets import (
    FILE_BYTES_MAX,
    PART_BYTES,
    PARTS_MAX,
    part_count,
    upload_ticket,
)
from holdfast.sparkfiles.offsets import parse_offsets
from holdfast.sparkfiles.paths import needed_at_start

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("text", "count"), [("0", 0), ("64k", 65536), ("1m", 1 << 20), ("2G", 2 << 30), ("5kb", 5120)]
)
def test_sizes_are_read_as_spark_writes_them(text: str, count: int) -> None:
    """With and without a unit."""
    assert parse_bytes(text) == count


def test_stores_have_names(tmp_path: Path) -> None:
    """The default one has none; an unset one is told with the line to add."""
    options = parse_options({"spark.holdfast.store": "a", "spark.holdfast.store.prod": "b"})
    assert (options.url(""), options.url("prod")) == ("a", "b")
    with pytest.raises(ConfigError, match=r"spark\.holdfast\.store\.dev"):
        options.url("dev")
    with pytest.raises(ConfigError, match="lowercase letters"):
        parse_options({"spark.holdfast.store.Prod": "b"})


def test_offsets_of_both_versions_are_read() -> None:
    """By index, and by name from version 2 on; a source without an offset is left out."""
    first = parse_offsets(b'v1\n{"batchWatermarkMs":5,"conf":{}}\n{"a":1}\n-\n7')
    assert (first.ends, first.watermark_ms) == ({"0": '{"a":1}', "2": "7"}, 5)
    second = parse_offsets(b'v2\n{"batchWatermarkMs":0}\norders:{"a":1}\nusers:-')
    assert (second.ends, second.watermark_ms) == ({"orders": '{"a":1}'}, None)


@pytest.mark.parametrize("body", [b"", b"v1", b"\xff\xfe", b"v9\n{}\nx", b"{}\n{}\n{}"])
def test_what_is_no_offset_log_says_nothing(body: bytes) -> None:
    """The log itself is in the checkpoint; nothing is decided by what is read of it."""
    assert parse_offsets(body).ends == {}


def test_a_start_needs_the_newest_state_and_the_ends_of_logs() -> None:
    """The last snapshot, every change after it, and what is left of the logs."""
    paths = [
        "metadata",
        *(f"offsets/{n}" for n in range(20)),
        *(f"commits/{n}" for n in range(19)),
        *(f"sources/0/{n}" for n in range(15, 20)),
        "sources/0/19.compact",
        *(f"state/0/3/{n}.delta" for n in range(1, 20)),
        "state/0/3/10.snapshot",
        "state/0/3/17.snapshot",
        "state/0/3/left-keyToNumValues/4.delta",
        "state/0/3/_metadata/schema",
        "state/1/0/5_abc.zip",
        "state/1/0/6_def.changelog",
        "state/1/0/SSTs/1-x.sst",
    ]
    assert needed_at_start(paths) == {
        "metadata",
        "offsets/18",
        "offsets/19",
        "commits/17",
        "commits/18",
        "sources/0/19",
        "sources/0/19.compact",
        "state/0/3/17.snapshot",
        "state/0/3/18.delta",
        "state/0/3/19.delta",
        "state/0/3/left-keyToNumValues/4.delta",
        "state/1/0/5_abc.zip",
        "state/1/0/6_def.changelog",
    }


def test_the_spool_of_a_killed_driver_is_swept_and_that_of_a_live_one_is_not(
    tmp_path: Path,
) -> None:
    """By its lock, which the kernel drops with the process."""
    code = (
        "import sys, time; from holdfast.spark.spool import SpoolRoot\n"
        "root = SpoolRoot(sys.argv[1]); print(root.path, flush=True); time.sleep(60)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    other = process.stdout.readline().strip()
    mine = SpoolRoot(str(tmp_path))
    assert os.path.isdir(other)  # noqa: PTH112 - a path of another process
    process.kill()
    process.wait()
    process.stdout.close()
    SpoolRoot(str(tmp_path)).close()
    assert not os.path.isdir(other)  # noqa: PTH112 - as above
    assert mine.path.is_dir()
    mine.close()


def test_a_spool_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    """With the setting to change."""
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match=r"spark\.holdfast\.spool\.dir"):
        SpoolRoot(str(tmp_path / "file"))


@pytest.mark.parametrize(
    ("execution", "trigger"),
    [
        ("AsyncProgressTrackingMicroBatchExecution", "ProcessingTimeTrigger"),
        ("ContinuousExecution", "ContinuousTrigger"),
        ("MicroBatchExecution", "RealTimeTrigger"),
    ],
)
def test_modes_that_write_offsets_late_are_refused(execution: str, trigger: str) -> None:
    """With a sentence; every other mode may run."""
    with pytest.raises(ConfigError, match="writes offsets after"):
        check_mode(execution, trigger)
    check_mode("MicroBatchExecution", "AvailableNowTrigger$")
    check_mode("", "")


def test_a_stream_threads_name_has_its_ids() -> None:
    """And any other name has none."""
    query, run = "0" * 8 + "-0000-0000-0000-" + "0" * 12, "1" * 8 + "-1111-1111-1111-" + "1" * 12
    name = f"stream execution thread for orders [id = {query}, runId = {run}]"
    assert parse_thread(name) == (query, run)
    assert parse_thread("main") == ("", "")


def test_a_ticket_is_for_a_new_key_under_the_claim(tmp_path: Path) -> None:
    """On a disk that all share it is a path; a store in memory takes files through the driver."""
    context = Context(store=LocalStore(tmp_path), query="q")
    hashes = ["ab" * 32]
    ticket = upload_ticket(context, 7, 10, hashes, 60)
    assert ticket.key.startswith("checkpoints/files/000007/")
    assert ticket.address == str(tmp_path / "q" / ticket.key)
    assert upload_ticket(context, 7, 10, hashes, 60).key != ticket.key
    in_memory = Context(store=MemoryStore(), query="q")
    assert upload_ticket(in_memory, 7, 10, hashes, 60).kind == "none"


@pytest.mark.parametrize(
    ("size", "hashes"),
    [
        (0, ["ab" * 32]),
        (-1, ["ab" * 32]),
        (10, ["ab"]),
        (10, ["AB" * 32]),
        (10, ["ab" * 32] * 2),
        (2 * PART_BYTES - 1, ["ab" * 32] * 2),
        (2 * PART_BYTES, ["ab" * 32]),
        (10_001 * PART_BYTES, ["ab" * 32] * 10_002),
    ],
)
def test_a_size_that_its_hashes_do_not_fit_gets_no_ticket(size: int, hashes: list[str]) -> None:
    """An executor says both."""
    with pytest.raises(MisuseError, match="no such size and hashes"):
        upload_ticket(Context(store=MemoryStore(), query="q"), 7, size, hashes, 60)


def test_the_largest_file_has_as_many_parts_as_are_signed_at_once() -> None:
    """Beyond 16 GiB, the parts grow; beyond the limit there is no ticket."""
    context = Context(store=MemoryStore(), query="q")
    hashes = ["ab" * 32] * (1 + PARTS_MAX)
    assert part_count(PARTS_MAX * PART_BYTES) == part_count(FILE_BYTES_MAX) == PARTS_MAX
    assert upload_ticket(context, 7, FILE_BYTES_MAX, hashes, 60).kind == "none"
    with pytest.raises(MisuseError, match=f"limit=`{FILE_BYTES_MAX}`"):
        upload_ticket(context, 7, FILE_BYTES_MAX + 1, hashes, 60)


@pytest.mark.parametrize("text", ["4096", "x y z", f"4096 {'ab' * 31} key", f"-1 {'ab' * 32} key"])
def test_an_object_that_the_jvm_names_wrongly_is_an_error_of_ours(text: str) -> None:
    """An executor told it: what it told is at fault, not Holdfast."""
    with pytest.raises(BridgeError, match="sent an invalid object"):
        parse_object_ref(text)
