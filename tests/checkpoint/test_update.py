"""Updating a manifest: nothing that someone else wrote is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from holdfast.checkpoint import CheckpointStore
from holdfast.errors import (
    CorruptionError,
    MisuseError,
    NotFoundError,
    PreconditionError,
    UnavailableError,
)
from holdfast.manifest import CheckpointManifest, SinkCommitStatus
from holdfast.testing import FaultyStore, lost_reply
from tests.checkpoint.support import KEYS, Meanwhile, contents, manifest, names, put_flat

if TYPE_CHECKING:
    from holdfast.objectstore import ObjectStore

COMMITTED = {"sink": SinkCommitStatus.committed()}
FAILED = {"sink": SinkCommitStatus.failed("no")}


def stored(checkpoints: CheckpointStore, number: int) -> CheckpointManifest:
    found = checkpoints.load_by_id(number)
    assert found is not None
    return found


def test_an_update_replaces_the_manifest(checkpoints: CheckpointStore) -> None:
    """The new statuses are what is loaded."""
    checkpoints.save(manifest(1))
    checkpoints.update_manifest(manifest(1, sink_commit_statuses=COMMITTED))
    assert stored(checkpoints, 1).sink_commit_statuses == COMMITTED


def test_an_update_leaves_the_pointer(checkpoints: CheckpointStore, store: ObjectStore) -> None:
    """Changing an old checkpoint does not make it the latest."""
    checkpoints.save(manifest(1))
    checkpoints.save(manifest(2))
    pointer = store.get(KEYS.latest).meta.etag
    checkpoints.update_manifest(manifest(1, sink_commit_statuses=COMMITTED))
    assert store.get(KEYS.latest).meta.etag == pointer


def test_the_checksum_survives_a_status_update(checkpoints: CheckpointStore) -> None:
    """The caller's manifest never had it, and the sidecar stays checked."""
    mine = manifest(1)
    checkpoints.save_with_state(mine, b"state")
    mine.sink_commit_statuses = COMMITTED
    checkpoints.update_manifest(mine)
    assert stored(checkpoints, 1).state_checksum is not None
    assert checkpoints.validate_checkpoint(1).valid


def test_unknown_fields_survive_a_status_update(checkpoints: CheckpointStore) -> None:
    """What a newer version wrote is not dropped by an older caller."""
    checkpoints.save(manifest(1, extra={"newer": [1]}))
    checkpoints.update_manifest(manifest(1, sink_commit_statuses=COMMITTED))
    assert stored(checkpoints, 1).extra == {"newer": [1]}


def test_an_update_needs_the_checkpoint(checkpoints: CheckpointStore, store: ObjectStore) -> None:
    """A checkpoint that was pruned does not come back without its sidecar."""
    with pytest.raises(NotFoundError, match="save it first"):
        checkpoints.update_manifest(manifest(1))
    assert contents(store) == {}


def test_an_update_does_not_overwrite_another_writers(
    checkpoints: CheckpointStore, store: ObjectStore
) -> None:
    """Two writers that read the same version: the second one is told to read again."""
    checkpoints.save(manifest(1))
    other = CheckpointStore(store, "q")
    stored(other, 1)
    checkpoints.update_manifest(manifest(1, sink_commit_statuses=COMMITTED))
    with pytest.raises(PreconditionError, match="load it again"):
        other.update_manifest(manifest(1, sink_commit_statuses=FAILED))
    assert stored(checkpoints, 1).sink_commit_statuses == COMMITTED


def test_reading_again_lets_the_update_through(
    checkpoints: CheckpointStore, store: ObjectStore
) -> None:
    """What the hint says works."""
    checkpoints.save(manifest(1))
    CheckpointStore(store, "q").update_manifest(manifest(1, sink_commit_statuses=FAILED))
    with pytest.raises(PreconditionError):
        checkpoints.update_manifest(manifest(1, sink_commit_statuses=COMMITTED))
    again = stored(checkpoints, 1)
    again.sink_commit_statuses = COMMITTED
    checkpoints.update_manifest(again)
    assert stored(checkpoints, 1).sink_commit_statuses == COMMITTED


def test_an_update_under_a_race_is_refused() -> None:
    """Another update between our read and our write is not lost."""
    store = Meanwhile()
    mine, other = CheckpointStore(store, "q"), CheckpointStore(store, "q")
    mine.save(manifest(1))
    store.before["put", KEYS.manifest(1)] = lambda: other.update_manifest(
        manifest(1, sink_commit_statuses=FAILED)
    )
    with pytest.raises(PreconditionError):
        mine.update_manifest(manifest(1, sink_commit_statuses=COMMITTED))
    assert stored(mine, 1).sink_commit_statuses == FAILED


def test_an_update_does_not_bring_back_what_a_prune_removed() -> None:
    """Deleted between our read and our write stays deleted."""
    store = Meanwhile()
    checkpoints = CheckpointStore(store, "q")
    checkpoints.save(manifest(1))
    store.before["put", KEYS.manifest(1)] = lambda: store.delete([KEYS.manifest(1)])
    with pytest.raises(PreconditionError):
        checkpoints.update_manifest(manifest(1, sink_commit_statuses=COMMITTED))
    assert names(store) == {"manifests/latest.json"}


def test_an_update_whose_reply_was_lost_can_be_repeated(store: ObjectStore) -> None:
    """The second try finds its own bytes, which is success."""
    faulty = FaultyStore(store, [lost_reply(verb="put", key="*manifest-*", nth=2)])
    checkpoints = CheckpointStore(faulty, "q")
    checkpoints.save(manifest(1))
    for attempt in range(2):
        try:
            checkpoints.update_manifest(manifest(1, sink_commit_statuses=COMMITTED))
        except UnavailableError:
            assert attempt == 0
    assert stored(checkpoints, 1).sink_commit_statuses == COMMITTED
    checkpoints.update_manifest(manifest(1, sink_commit_statuses=FAILED))


def test_updates_follow_each_other(checkpoints: CheckpointStore) -> None:
    """One writer can update as often as it likes without reading."""
    checkpoints.save(manifest(1))
    checkpoints.update_manifest(manifest(1, sink_commit_statuses=FAILED))
    checkpoints.update_manifest(manifest(1, sink_commit_statuses=COMMITTED))
    assert stored(checkpoints, 1).sink_commit_statuses == COMMITTED


def test_a_checkpoints_parent_cannot_change(checkpoints: CheckpointStore) -> None:
    """What a prune protects is decided when a checkpoint is saved."""
    checkpoints.save(manifest(2, parent_id=1, is_incremental=True))
    with pytest.raises(MisuseError, match="parent"):
        checkpoints.update_manifest(manifest(2))


def test_the_flat_layout_is_not_updated(checkpoints: CheckpointStore, store: ObjectStore) -> None:
    """It is read and pruned, and nothing else."""
    put_flat(store, 1)
    before = contents(store)
    with pytest.raises(MisuseError, match="read-only"):
        checkpoints.update_manifest(manifest(1, sink_commit_statuses=COMMITTED))
    assert contents(store) == before


def test_a_corrupt_manifest_is_not_overwritten(
    checkpoints: CheckpointStore, store: ObjectStore
) -> None:
    """What it held, such as its checksum, is not known; so it stays for an operator to see."""
    store.put(KEYS.manifest(1), b"{")
    with pytest.raises(CorruptionError):
        checkpoints.update_manifest(manifest(1))
    assert store.get(KEYS.manifest(1)).body == b"{"


def test_only_so_many_versions_are_remembered(
    checkpoints: CheckpointStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The oldest are forgotten, and an update then goes by what it finds."""
    monkeypatch.setattr("holdfast.checkpoint.update.VERSIONS_MAX", 2)
    for number in (1, 2, 3):
        checkpoints.save(manifest(number))
    assert list(checkpoints._versions._etags) == [2, 3]
    checkpoints.update_manifest(manifest(1, sink_commit_statuses=COMMITTED))
