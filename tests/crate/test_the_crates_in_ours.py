"""What laminar-storage 0.18.5 writes is read equal by us, and our store goes on from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from holdfast.checkpoint import CheckpointStore, DistributedCheckpoints
from holdfast.errors import AlreadyExistsError, PreconditionError
from holdfast.layout import CheckpointPaths
from holdfast.manifest import CheckpointManifest, SinkCommitStatus
from holdfast.pack import decode_batch
from holdfast.settings import U64_MAX

if TYPE_CHECKING:
    from holdfast.objectstore import LocalStore
    from tests.crate.conftest import Crate

pytestmark = [pytest.mark.crate, pytest.mark.timeout(1800)]

SIDECAR = b"sidecar bytes of the crate"


@pytest.fixture
def checkpoints(store: LocalStore) -> CheckpointStore:
    return CheckpointStore(store, "q")


@pytest.mark.parametrize("layout", ["save", "save-flat"])
def test_their_manifests_are_read_equal(
    crate: Crate, checkpoints: CheckpointStore, layout: str
) -> None:
    """All 22 fields, numbers up to 2^64-1 exactly, in both layouts."""
    for theirs in crate(layout):
        ours = checkpoints.load_by_id(theirs["checkpoint_id"])
        assert ours is not None
        assert ours.to_json() == theirs
    full = checkpoints.load_by_id(1)
    assert full is not None
    assert full.pipeline_hash == full.epoch == full.wal_position == U64_MAX


@pytest.mark.parametrize("layout", ["save", "save-flat"])
def test_their_store_is_listed_validated_and_recovered(
    crate: Crate, checkpoints: CheckpointStore, layout: str
) -> None:
    """Sidecar, checksum and ranges fit, and the newest is the one of seven digits."""
    crate(layout)
    assert checkpoints.list() == [(1, U64_MAX), (2, 2), (1_000_000, 3)]
    assert all(not checkpoints.validate_checkpoint(n).issues for n in checkpoints.list_ids())
    assert checkpoints.recover_latest_validated().chosen_id == 1_000_000
    assert checkpoints.load_state_data(1) == SIDECAR
    latest = checkpoints.load_latest()
    assert latest is not None
    assert latest.checkpoint_id == 1_000_000


@pytest.mark.parametrize("layout", ["save", "save-flat"])
def test_our_store_goes_on_from_theirs(
    crate: Crate, checkpoints: CheckpointStore, layout: str
) -> None:
    """A new checkpoint is saved, and is the latest for both."""
    crate(layout)
    checkpoints.save_with_state(CheckpointManifest.new(1_000_001, 4), b"ours")
    assert crate("latest")["checkpoint_id"] == 1_000_001
    assert crate("recover")["chosen_id"] == 1_000_001
    with pytest.raises(AlreadyExistsError):
        checkpoints.save(CheckpointManifest.new(2, 99))


@pytest.mark.parametrize("layout", ["save", "save-flat"])
def test_our_store_prunes_theirs(crate: Crate, checkpoints: CheckpointStore, layout: str) -> None:
    """Manifests and sidecars of either layout go, and what stays is whole for them."""
    crate(layout)
    assert checkpoints.prune(1) == 2
    assert crate("list")["ids"] == [1_000_000]
    assert crate("latest")["checkpoint_id"] == 1_000_000
    assert checkpoints.load_state_data(1) is None


def test_our_update_of_theirs_loses_nothing(crate: Crate, checkpoints: CheckpointStore) -> None:
    """Only the status changes, and they read it."""
    before = crate("save")[0]
    manifest = checkpoints.load_by_id(1)
    assert manifest is not None
    manifest.sink_commit_statuses["sink"] = SinkCommitStatus.committed()
    checkpoints.update_manifest(manifest)
    after = crate("load", "1")
    assert after["sink_commit_statuses"].pop("sink") == "Committed"
    assert before["sink_commit_statuses"].pop("sink") == "Pending"
    assert after == before


def test_their_update_is_read(crate: Crate, checkpoints: CheckpointStore) -> None:
    """And ours is refused until we have read theirs."""
    checkpoints.save_with_state(CheckpointManifest.new(1, 1), b"ours")
    theirs = crate("update", "1")
    with pytest.raises(PreconditionError):
        checkpoints.update_manifest(CheckpointManifest.new(1, 1))
    ours = checkpoints.load_by_id(1)
    assert ours is not None
    assert ours.to_json() == theirs
    assert checkpoints.validate_checkpoint(1).valid


def test_their_batches_are_decoded(crate: Crate, store: LocalStore) -> None:
    """Compressed by their library, under their key."""
    theirs = crate("batch", "7")
    ours = decode_batch(store.get("q/checkpoints/batch-000007.lz4").body)
    assert [[key, list(data)] for key, data in ours] == theirs


def test_their_distributed_checkpoints_are_read(crate: Crate, store: LocalStore) -> None:
    """Without the "/" after the id, with whole keys as paths."""
    theirs = crate("save-distributed")
    distributed = DistributedCheckpoints(store, CheckpointPaths("q/checkpoints"))
    latest = distributed.load_latest()
    assert latest is not None
    assert latest.to_json() == theirs
    assert distributed.read_latest() == latest.checkpoint_id
    assert distributed.verify(latest.checkpoint_id).valid
    entries = latest.operators["agg"].partitions
    assert {distributed.load_partition(latest.checkpoint_id, entry) for entry in entries} == {
        bytes([n]) * 9 for n in range(3)
    }


def test_their_distributed_checkpoints_are_deleted(crate: Crate, store: LocalStore) -> None:
    """Every object, which their own delete does not manage."""
    crate("save-distributed")
    distributed = DistributedCheckpoints(store, CheckpointPaths("q/checkpoints"))
    [checkpoint] = distributed.list()
    assert distributed.delete(checkpoint, even_latest=True) == 4
    assert not store.list(f"q/checkpoints/{checkpoint}").objects
