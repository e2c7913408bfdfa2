"""A chain that begins with a checkpoint that Spark wrote."""

from __future__ import annotations

import os
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from holdfast.errors import (
    AlreadyExistsError,
    CommitUnknownError,
    MisuseError,
    PermissionDeniedError,
    UnavailableError,
)
from holdfast.layout import Keys
from holdfast.manifest.record import Kind
from holdfast.moving import importing
from holdfast.moving.importing import bring
from holdfast.moving.stock import survey
from holdfast.objectstore import LocalStore, MemoryStore
from holdfast.testing import DyingStore, Fault, FaultyStore, StoreDied
from tests.chain.support import Meddling, chain, keys_of, run
from tests.moving.support import (
    LOCATION,
    STARTED_S,
    imported,
    needed,
    origin,
    state_metadata,
    write,
    write_plan,
    write_stock,
)

if TYPE_CHECKING:
    from holdfast.chain import Chain

KEYS = Keys.of_query("orders")


def test_the_query_has_every_file_that_spark_needs(tmp_path: Path) -> None:
    """Byte for byte, but for what holds the old place; the origin is as it was."""
    before = needed(write_stock(tmp_path))
    begun, done = imported(MemoryStore(), tmp_path)
    files = begun.read(begun.recover(deep=True).head)
    moved = state_metadata(tmp_path).replace(f"file:{tmp_path}".encode(), b"holdfast:/orders")
    assert files == {**before, "state/0/_metadata/v2/0": moved}
    assert done.files == len(before)
    assert needed(tmp_path) == before


def test_the_first_manifest_is_a_clone_of_no_one(tmp_path: Path) -> None:
    """With the batch, the offsets and the watermark of the last commit, and where it came from."""
    begun, _ = imported(MemoryStore(), write_stock(tmp_path))
    (entry,) = [found.entry for found in begun.history()]
    assert entry is not None
    assert (entry.record.kind, entry.record.parent, entry.record.batch) == (Kind.CLONE, None, 2)
    assert (entry.manifest.epoch, entry.manifest.watermark) == (3, 2000)
    assert entry.manifest.source_offsets["0"].offsets == {"offset": '{"logOffset":2}'}
    assert entry.record.notes == {"imported": str(tmp_path)}


def test_times_are_kept(tmp_path: Path) -> None:
    """Spark decides deletions by them."""
    begun, _ = imported(MemoryStore(), write_stock(tmp_path))
    files = begun.recover().head.files
    assert files["commits/2"].mtime_ms == (STARTED_S + 2) * 1000


def test_the_next_start_runs_the_batch_that_was_planned(tmp_path: Path) -> None:
    """With its very offsets, and without the state that it wrote."""
    begun, _ = imported(MemoryStore(), write_stock(tmp_path, batches=2, unfinished=True))
    writer = begun.claim()
    plan = writer.head.shown_plan
    assert plan is not None
    assert plan.contents() == {"offsets/2": (tmp_path / "offsets/2").read_bytes()}
    assert "state/0/0/3.delta" not in writer.head.visible()
    writer.commit(2, [])
    assert "offsets/2" in begun.recover().head.files


def test_the_chain_goes_on_as_any_other(tmp_path: Path) -> None:
    """Claims, commits, rollback to the import, retention."""
    begun, done = imported(MemoryStore(), write_stock(tmp_path))
    run(begun.claim(), 3)
    assert begun.recover().head.batch == 5
    begun.rollback(done.number)
    assert begun.recover(deep=True).head.batch == 2
    run(begun.claim(), 9)
    begun.retain(2)
    assert begun.recover(deep=True).head.batch == 11


def test_small_files_become_packs_and_those_of_a_start_come_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that a start fetches few of them."""
    write_stock(tmp_path, batches=20)
    write(tmp_path, "state/0/0/19.snapshot", "whole")
    monkeypatch.setattr(importing, "PACK_BYTES_MAX", 600)
    store = MemoryStore()
    begun, done = imported(store, tmp_path)
    files = begun.recover(deep=True).head.files
    assert len(keys_of(store, KEYS.checkpoints)) == done.objects > 3
    assert files["state/0/0/20.delta"].ref == files["metadata"].ref
    assert files["state/0/0/1.delta"].ref != files["metadata"].ref
    expected = needed(tmp_path)
    assert begun.read(begun.recover().head, ["offsets/1"]) == {"offsets/1": expected["offsets/1"]}


def test_a_large_file_is_an_object_and_never_whole_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """RocksDB's tables have 64 MiB and more, and there are many."""
    monkeypatch.setattr(os, "fsync", lambda _: None)
    write_stock(tmp_path / "stock")
    large = tmp_path / "stock/state/0/0/SSTs/000008-a.sst"
    large.parent.mkdir()
    with large.open("wb") as file:
        file.truncate(24 << 20)
    tracemalloc.start()
    begun, done = imported(LocalStore(tmp_path / "store"), tmp_path / "stock")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    found = begun.recover().head.files["state/0/0/SSTs/000008-a.sst"]
    assert (found.size, found.ref is not None and found.ref.kind) == (24 << 20, "file")
    assert (done.objects, begun.validate(1).valid) == (1, True)
    assert peak < 4 << 20


def test_a_query_that_exists_is_never_touched(tmp_path: Path) -> None:
    """Not even by objects that nobody names."""
    store = MemoryStore()
    run(chain(store).claim(), 1)
    before = keys_of(store)
    with pytest.raises(AlreadyExistsError, match="a query of this name exists"):
        imported(store, write_stock(tmp_path))
    assert keys_of(store) == before


def test_a_query_that_is_begun_meanwhile_wins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And what the import had put is gone again."""
    monkeypatch.setattr(importing, "PACK_BYTES_MAX", 200)
    inner = MemoryStore()
    started: list[Chain] = []

    def start() -> None:
        if not started:
            started.append(chain(inner, "two"))
            started[0].claim()

    with pytest.raises(AlreadyExistsError, match="was begun meanwhile"):
        imported(Meddling(inner, "/files/", before=start), write_stock(tmp_path))
    assert keys_of(inner, KEYS.checkpoints) == []


def test_a_query_that_still_runs_is_noticed(tmp_path: Path) -> None:
    """A checkpoint that changes under the import would be a mixture."""
    found = origin(write_stock(tmp_path))
    stock = survey(found)
    write_plan(tmp_path, 3)
    store = MemoryStore()
    with pytest.raises(MisuseError, match="a query still runs on it"):
        bring(chain(store), found, stock, location=LOCATION)
    assert keys_of(store) == []


@pytest.mark.parametrize("path", ["sources/0/0", "state/0/0/SSTs/1.sst"])
@pytest.mark.parametrize("how", ["gone", "other"])
def test_a_file_that_is_another_one_by_now_is_noticed(tmp_path: Path, path: str, how: str) -> None:
    """Small or large."""
    write_stock(tmp_path)
    write(tmp_path, "state/0/0/SSTs/1.sst", bytes(importing.LARGE_FILE_BYTES + 1))
    found = origin(tmp_path)
    stock = survey(found)
    (tmp_path / path).unlink()
    if how == "other":
        write(tmp_path, path, bytes(importing.LARGE_FILE_BYTES + 2))
    with pytest.raises(MisuseError, match="changed while it was read"):
        bring(chain(MemoryStore()), found, stock, location=LOCATION)


def test_a_file_that_may_not_be_read_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the hint to run it as the query's user."""
    write_stock(tmp_path)
    write(tmp_path, "state/0/0/SSTs/1.sst", bytes(importing.LARGE_FILE_BYTES + 1))
    opened = Path.open

    def refuse(self: Path, *args: Any, **kwargs: Any) -> Any:
        if self.suffix == ".sst":
            raise PermissionError(13, "Permission denied", str(self))
        return opened(self, *args, **kwargs)

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(PermissionDeniedError, match="the user that the query ran as"):
        imported(MemoryStore(), tmp_path)


def test_an_unknown_outcome_deletes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The manifest may be there, and then it names those objects."""
    monkeypatch.setattr(importing, "PACK_BYTES_MAX", 200)
    silent = UnavailableError("no answer")
    faults = [
        Fault(error=silent, verb="put", key="*manifest-*", nth=0, when="after"),
        Fault(error=silent, verb="get", key="*manifest-*", nth=0),
    ]
    inner = MemoryStore()
    with pytest.raises(CommitUnknownError):
        imported(FaultyStore(inner, faults), write_stock(tmp_path))
    assert chain(inner).recover(deep=True).head.batch == 2


@pytest.mark.parametrize("last_takes_effect", [False, True])
def test_whenever_the_import_dies_it_is_whole_or_can_be_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, last_takes_effect: bool
) -> None:
    """At every store call; and what it left behind goes with the first retention."""
    monkeypatch.setattr(importing, "PACK_BYTES_MAX", 500)
    write_stock(tmp_path, batches=2, unfinished=True)
    for calls in range(40):
        inner = MemoryStore()
        dying = DyingStore(inner, after=calls, last_takes_effect=last_takes_effect)
        try:
            imported(dying, tmp_path)
        except StoreDied:
            if not chain(inner).exists():
                imported(inner, tmp_path)
        writer = chain(inner).claim(deep=True)
        assert (writer.head.batch, writer.head.shown_plan is not None) == (1, True)
        writer.retain()
        named = {file.ref.key for file in writer.head.files.values() if file.ref}
        left = {key.removeprefix(KEYS.root) for key in keys_of(inner, KEYS.checkpoints)}
        assert left == {key for key in named if key}
        if not dying.died:
            return
    pytest.fail("the import never came to its end")
