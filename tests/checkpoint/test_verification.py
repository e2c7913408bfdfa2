"""Verifying a distributed checkpoint: each object is there, of its size and with its hash."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson
import pytest

from holdfast.checkpoint import DistributedCheckpoints, PartitionState, Severity
from holdfast.errors import CorruptionError, PermissionDeniedError, StoreError, UnavailableError
from holdfast.ids import CheckpointId
from holdfast.layout import CheckpointPaths
from holdfast.manifest import CheckpointManifestV2, SourceOffsetEntry
from holdfast.testing import Fault, FaultyStore
from tests.checkpoint.support import contents

if TYPE_CHECKING:
    from holdfast.objectstore import ObjectStore

PATHS = CheckpointPaths()
ID = CheckpointId.parse("0190b6d5-3b7c-7def-8123-456789000000")
OTHER = CheckpointId.parse("0190b6d5-3b7c-7def-8123-456789000001")
DATA = b"partition state"


@pytest.fixture
def distributed(store: ObjectStore) -> DistributedCheckpoints:
    """One checkpoint with two partitions and a source."""
    checkpoints = DistributedCheckpoints(store)
    source = SourceOffsetEntry(source_type="kafka", offsets={"0": "1"}, epoch=1)
    manifest = CheckpointManifestV2(
        checkpoint_id=ID, epoch=1, timestamp_ms=1, source_offsets={"trades": source}
    )
    states = [PartitionState(operator="agg", partition=n, data=DATA) for n in (0, 1)]
    checkpoints.save(manifest, states)
    return checkpoints


def rewrite(store: ObjectStore, **fields: object) -> None:
    """Change the first partition's entry in the manifest."""
    document = orjson.loads(store.get(PATHS.manifest(ID)).body)
    document["operators"]["agg"]["partitions"][0].update(fields)
    store.put(PATHS.manifest(ID), orjson.dumps(document))


def test_a_good_checkpoint_has_no_issues(distributed: DistributedCheckpoints) -> None:
    """Everything is there and right."""
    result = distributed.verify(ID)
    assert (result.checkpoint_id, result.valid, result.issues) == (ID, True, ())


@pytest.mark.parametrize("damage", ["flip", "cut", "longer", "gone"])
def test_each_damaged_object_is_found(
    distributed: DistributedCheckpoints, store: ObjectStore, damage: str
) -> None:
    """Whichever object, and whatever happened to it; the pointer is no part of it."""
    for key, body in contents(store).items():
        if key == PATHS.latest_pointer():
            continue
        damaged = {
            "flip": bytes([body[0] ^ 1]) + body[1:],
            "cut": body[:-1],
            "longer": body + b"x",
            "gone": b"",
        }[damage]
        store.delete([key])
        if damage != "gone":
            store.put(key, damaged)
        assert distributed.verify(ID).issues, key
        store.put(key, body)
    assert not distributed.verify(ID).issues


@pytest.mark.parametrize("partition", [0, 1])
def test_a_damaged_partition_is_fatal_and_named(
    distributed: DistributedCheckpoints, store: ObjectStore, partition: int
) -> None:
    """And reading it raises, so that no one restores from it."""
    key = PATHS.snapshot(ID, "agg", partition)
    store.put(key, b"Partition state")
    result = distributed.verify(ID)
    assert not result.valid
    assert f"partition-{partition}.snap" in str(result.issues[0])
    entry = distributed.load(ID).operators["agg"].partitions[partition]
    with pytest.raises(CorruptionError, match="hash"):
        distributed.load_partition(ID, entry)


def test_swapped_partitions_of_other_content_are_found(
    distributed: DistributedCheckpoints, store: ObjectStore
) -> None:
    """Each entry has the hash of its own bytes."""
    rewrite(store, sha256="0" * 64)
    assert not distributed.verify(ID).valid


@pytest.mark.parametrize("path", ["../../x", "", "operators//x", "operators/agg/partition-9.snap"])
def test_a_path_that_leads_nowhere_is_fatal(
    distributed: DistributedCheckpoints, store: ObjectStore, path: str
) -> None:
    """Also one that tries to leave the checkpoint's directory."""
    rewrite(store, path=path)
    assert not distributed.verify(ID).valid


def test_an_entry_without_a_hash_is_a_warning(
    distributed: DistributedCheckpoints, store: ObjectStore
) -> None:
    """Its size is still compared."""
    rewrite(store, sha256=None)
    result = distributed.verify(ID)
    assert result.valid
    assert [issue.severity for issue in result.issues] == [Severity.WARNING]
    rewrite(store, size_bytes=1)
    assert not distributed.verify(ID).valid


def test_a_source_object_that_is_gone_is_a_warning(
    distributed: DistributedCheckpoints, store: ObjectStore
) -> None:
    """The manifest has the same offsets; the seed writes no such object."""
    store.delete([PATHS.source_offset(ID, "trades")])
    result = distributed.verify(ID)
    assert result.valid
    assert "trades" in str(result.issues[0])


def test_a_source_object_that_differs_is_fatal(
    distributed: DistributedCheckpoints, store: ObjectStore
) -> None:
    """No one can tell which of the two is right."""
    store.put(PATHS.source_offset(ID, "trades"), b"{}")
    assert not distributed.verify(ID).valid


def test_a_manifest_under_another_id_is_fatal(
    distributed: DistributedCheckpoints, store: ObjectStore
) -> None:
    """Two manifests swapped are found."""
    store.put(PATHS.manifest(OTHER), store.get(PATHS.manifest(ID)).body)
    assert "another checkpoint" in str(distributed.verify(OTHER).issues[0])
    with pytest.raises(CorruptionError, match="another checkpoint"):
        distributed.load(OTHER)


def test_a_missing_checkpoint_is_invalid(distributed: DistributedCheckpoints) -> None:
    """It does not raise."""
    assert not distributed.verify(OTHER).valid


@pytest.mark.parametrize("key", ["*manifest.json", "*partition-1.snap", "*trades.json"])
def test_an_unreadable_object_is_an_issue(
    store: ObjectStore, distributed: object, key: str
) -> None:
    """A broken sector is about this checkpoint."""
    broken = Fault(error=StoreError("input/output error"), verb="get", key=key)
    result = DistributedCheckpoints(FaultyStore(store, [broken])).verify(ID)
    assert not result.valid


@pytest.mark.parametrize("error", [UnavailableError("down"), PermissionDeniedError("expired")])
@pytest.mark.parametrize("key", ["*manifest.json", "*partition-1.snap", "*trades.json"])
def test_a_store_that_does_not_say_is_an_error(
    store: ObjectStore, distributed: object, error: Exception, key: str
) -> None:
    """Down or refusing access says nothing about the checkpoint."""
    down = Fault(error=error, verb="get", key=key)
    with pytest.raises(type(error)):
        DistributedCheckpoints(FaultyStore(store, [down])).verify(ID)
