"""A store that dies at its n-th operation, for every n: what a restart finds is legal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from holdfast.checkpoint import (
    CheckpointBatcher,
    CheckpointStore,
    DistributedCheckpoints,
    PartitionState,
)
from holdfast.errors import AlreadyExistsError
from holdfast.ids import CheckpointId
from holdfast.manifest import CheckpointManifestV2, SinkCommitStatus
from holdfast.objectstore import MemoryStore, ObjectStore
from holdfast.pack import decode_batch
from holdfast.testing import DyingStore, FaultyStore, ManualClock, StoreDied
from tests.checkpoint.support import KEYS, child, contents, manifest, names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

OPERATIONS_MAX = 60
STATE = b"new state"
COMMITTED = {"sink": SinkCommitStatus.committed()}


class OneByOne(FaultyStore):
    """Deletes key by key, because a store may stop after any of them."""

    def delete(self, keys: Iterable[str]) -> None:
        for key in keys:
            super().delete([key])


def prepared(*numbers: int) -> MemoryStore:
    """Valid checkpoints with sidecars."""
    store = MemoryStore(clock=ManualClock())
    checkpoints = CheckpointStore(store, "q")
    for number in numbers:
        checkpoints.save_with_state(manifest(number), b"state %d" % number)
    return store


def crashes(
    prepare: Callable[[], MemoryStore], work: Callable[[ObjectStore], object]
) -> Iterator[MemoryStore]:
    """The store after the work died at each of its operations, and once after it did not."""
    for after in range(OPERATIONS_MAX):
        for last_takes_effect in (False, True):
            inner = prepare()
            dying = DyingStore(inner, after=after, last_takes_effect=last_takes_effect)
            try:
                work(OneByOne(dying))
            except StoreDied:
                yield inner
                continue
            yield inner
            return
    pytest.fail("the work never ended")


def check_recovery(store: ObjectStore, *legal: int) -> int:
    """A new process recovers one of these; what it names is complete, and the latest loads."""
    checkpoints = CheckpointStore(store, "q")
    report = checkpoints.recover_latest_validated()
    assert report.chosen_id in legal
    assert report.skipped == []
    latest = checkpoints.load_latest()
    assert latest is not None
    assert latest.checkpoint_id == report.chosen_id
    return report.chosen_id


def test_a_save_dies_anywhere() -> None:
    """The old or the new checkpoint is the latest, both are complete, and saving again works."""
    outcomes = set()
    for store in crashes(lambda: prepared(1), _save):
        outcomes.add(check_recovery(store, 1, 2))
        _save(store)
        assert check_recovery(store, 2) == 2
    assert outcomes == {1, 2}


def _save(store: ObjectStore) -> None:
    CheckpointStore(store, "q").save(manifest(2))


def test_a_save_with_state_dies_anywhere() -> None:
    """No manifest is ever there without its sidecar, and saving the same again works."""
    outcomes = set()
    for store in crashes(lambda: prepared(1), lambda dying: _save_state(dying, 2, STATE)):
        outcomes.add(check_recovery(store, 1, 2))
        _save_state(store, 2, STATE)
        assert check_recovery(store, 2) == 2
    assert outcomes == {1, 2}


def test_a_writer_with_other_state_goes_on_with_the_next_id() -> None:
    """After a crash anywhere in a save, a lone writer gets on by taking greater ids."""
    for store in crashes(lambda: prepared(1), lambda dying: _save_state(dying, 2, STATE)):
        saved = _save_at_next_free(store, b"another attempt")
        assert saved in (2, 3)
        assert check_recovery(store, saved) == saved


def _save_at_next_free(store: ObjectStore, state: bytes) -> int:
    latest = CheckpointStore(store, "q").load_latest()
    assert latest is not None
    for number in range(latest.checkpoint_id + 1, latest.checkpoint_id + 3):
        try:
            _save_state(store, number, state)
        except AlreadyExistsError:
            continue
        return number
    pytest.fail("no id was free")


def _save_state(store: ObjectStore, number: int, state: bytes) -> None:
    CheckpointStore(store, "q", clock=ManualClock()).save_with_state(manifest(number), state)


def test_a_save_that_prunes_dies_anywhere() -> None:
    """The last valid checkpoint is always there, and a later prune finishes the work."""
    for store in crashes(lambda: prepared(1, 2, 3), _save_and_prune):
        check_recovery(store, 3, 4)
        _save_and_prune(store)
        assert CheckpointStore(store, "q").list_ids() == [3, 4]


def _save_and_prune(store: ObjectStore) -> None:
    CheckpointStore(store, "q", 2, clock=ManualClock()).save_with_state(manifest(4), STATE)


def test_a_prune_dies_anywhere() -> None:
    """No manifest loses its sidecar or its parent, and orphans are all that is left behind."""
    for store in crashes(_with_increments, lambda dying: CheckpointStore(dying, "q").prune(1)):
        checkpoints = CheckpointStore(store, "q")
        assert all(checkpoints.validate_checkpoint(n).valid for n in checkpoints.list_ids())
        assert check_recovery(store, 6) == 6
        clock = ManualClock()
        clock.sleep(7200)
        finishing = CheckpointStore(store, "q", clock=clock)
        finishing.prune(1)
        finishing.cleanup_orphans()
        assert {name for name in names(store) if "state" in name} == {
            f"checkpoints/state-{n:06}.bin" for n in (2, 3)
        }


def _with_increments() -> MemoryStore:
    """1 ← 4 and 2 ← 5 ← 6; 3 stands alone, and the pointer names it."""
    store = prepared(1, 2, 3)
    checkpoints = CheckpointStore(store, "q")
    checkpoints.save(child(4, 1))
    checkpoints.save(child(5, 2))
    checkpoints.save(child(6, 5))
    store.put(KEYS.latest, b'{"checkpoint_id":3}')
    return store


def test_an_update_dies_anywhere() -> None:
    """The manifest is the old or the new one, whole, with its checksum."""
    outcomes = set()
    for store in crashes(lambda: prepared(1), _update):
        check_recovery(store, 1)
        stored = CheckpointStore(store, "q").load_by_id(1)
        assert stored is not None
        assert stored.state_checksum is not None
        outcomes.add(bool(stored.sink_commit_statuses))
        _update(store)
    assert outcomes == {False, True}


def _update(store: ObjectStore) -> None:
    CheckpointStore(store, "q").update_manifest(manifest(1, sink_commit_statuses=COMMITTED))


def test_a_cleanup_dies_anywhere() -> None:
    """What a manifest needs is there whenever it dies."""

    def prepare() -> MemoryStore:
        store = prepared(1)
        CheckpointStore(store, "q").save_state_data(2, b"orphan")
        return store

    for store in crashes(prepare, _clean_up):
        check_recovery(store, 1)
        _clean_up(store)
        assert "checkpoints/state-000002.bin" not in names(store)


def _clean_up(store: ObjectStore) -> None:
    clock = ManualClock()
    clock.sleep(7200)
    CheckpointStore(store, "q", clock=clock).cleanup_orphans()


def test_a_flush_dies_anywhere() -> None:
    """The entries are in the object or still with the caller, and no older object changed."""
    for store in crashes(_with_batch, _flush):
        before = contents(store)
        assert decode_batch(before[KEYS.batch(1)]) == [("k", b"old")]
        _flush(store)
        written = [decode_batch(body) for key, body in contents(store).items() if ".lz4" in key]
        assert [("k", b"new")] in written
        assert before.items() <= contents(store).items()


def _with_batch() -> MemoryStore:
    store = MemoryStore()
    batcher = CheckpointBatcher(store, "q")
    batcher.add("k", b"old")
    batcher.flush(1)
    return store


def _flush(store: ObjectStore) -> None:
    batcher = CheckpointBatcher(store, "q")
    batcher.add("k", b"new")
    batcher.flush(1)


IDS = [CheckpointId.parse(f"0190b6d5-3b7c-7def-8123-45678900000{n}") for n in range(2)]


def _save_distributed(store: ObjectStore, index: int = 1) -> None:
    states = [PartitionState(operator="agg", partition=n, data=b"%d" % n) for n in range(4)]
    empty = CheckpointManifestV2(checkpoint_id=IDS[index], epoch=1, timestamp_ms=1)
    DistributedCheckpoints(store, max_concurrent=1).save(empty, states)


def _with_distributed() -> MemoryStore:
    store = MemoryStore()
    _save_distributed(store, 0)
    return store


def test_a_distributed_save_dies_anywhere() -> None:
    """Whatever is listed verifies in full, the latest loads, and saving again works."""
    outcomes = set()
    for store in crashes(_with_distributed, _save_distributed):
        checkpoints = DistributedCheckpoints(store)
        listed = checkpoints.list()
        assert all(not checkpoints.verify(checkpoint).issues for checkpoint in listed)
        latest = checkpoints.load_latest()
        assert latest is not None
        assert latest.checkpoint_id == listed[-1]
        outcomes.add(len(listed))
        _save_distributed(store)
        assert checkpoints.read_latest() == IDS[1]
    assert outcomes == {1, 2}


def test_a_distributed_delete_dies_anywhere() -> None:
    """The checkpoint is whole or not listed, and deleting again removes the rest."""

    def delete(store: ObjectStore) -> None:
        DistributedCheckpoints(store).delete(IDS[0])

    def prepare() -> MemoryStore:
        store = _with_distributed()
        _save_distributed(store)
        return store

    for store in crashes(prepare, delete):
        checkpoints = DistributedCheckpoints(store)
        assert all(not checkpoints.verify(checkpoint).issues for checkpoint in checkpoints.list())
        delete(store)
        assert not any(str(IDS[0]) in key for key in contents(store))
