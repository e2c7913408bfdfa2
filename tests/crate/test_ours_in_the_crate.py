"""What we write is listed, validated, recovered and read equal by laminar-storage 0.18.5."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from holdfast.checkpoint import (
    CheckpointBatcher,
    CheckpointStore,
    DistributedCheckpoints,
    PartitionState,
)
from holdfast.ids import CheckpointId
from holdfast.layout import CheckpointPaths, Keys
from holdfast.manifest import CheckpointManifest, CheckpointManifestV2, SinkCommitStatus
from holdfast.settings import U64_MAX
from tests.formats.samples import SIDECAR, full_distributed, full_manifest

if TYPE_CHECKING:
    from pathlib import Path

    from holdfast.objectstore import LocalStore
    from tests.crate.conftest import Crate

pytestmark = [pytest.mark.crate, pytest.mark.timeout(1800)]

KEYS = Keys("q/")


@pytest.fixture
def checkpoints(store: LocalStore) -> CheckpointStore:
    return CheckpointStore(store, "q")


def test_our_checkpoints_are_listed(crate: Crate, checkpoints: CheckpointStore) -> None:
    """Ids and epochs, also of seven digits and of twenty, in the order of the numbers."""
    for number in (999_999, 1_000_000, 1, U64_MAX):
        checkpoints.save(CheckpointManifest.new(number, 7))
    ids = [1, 999_999, 1_000_000, U64_MAX]
    assert crate("list") == {"ids": ids, "pairs": [[number, 7] for number in ids]}


def test_our_full_manifest_is_read_equal(crate: Crate, checkpoints: CheckpointStore) -> None:
    """All 22 fields, at the edges of their ranges, come out of the crate as they went in."""
    checkpoints.save(full_manifest(3))
    assert crate("load", "3") == json.loads(full_manifest(3).encode())


def test_our_latest_is_theirs(crate: Crate, checkpoints: CheckpointStore) -> None:
    """Their reader goes by the pointer, and finds what ours finds."""
    for number in (1, 3, 2):
        checkpoints.save(CheckpointManifest.new(number, number))
    latest = checkpoints.load_latest()
    assert latest is not None
    assert crate("latest") == latest.to_json()
    assert latest.checkpoint_id == 3


def test_our_checkpoints_validate(crate: Crate, checkpoints: CheckpointStore) -> None:
    """With sidecar and checksum, and with none, without a single warning."""
    sample = replace(full_manifest(1), is_incremental=False, parent_id=None)
    checkpoints.save_with_state(sample, SIDECAR)
    checkpoints.save(CheckpointManifest.new(2, 2))
    assert [(one["id"], one["valid"], one["issues"]) for one in crate("validate")] == [
        (1, True, []),
        (2, True, []),
    ]
    assert crate("state", "1") == list(SIDECAR)


def test_a_status_update_still_validates(crate: Crate, checkpoints: CheckpointStore) -> None:
    """The checksum is there for them too, which the seed itself loses."""
    mine = CheckpointManifest.new(1, 1)
    checkpoints.save_with_state(mine, SIDECAR)
    mine.sink_commit_statuses["sink"] = SinkCommitStatus.failed("no")
    checkpoints.update_manifest(mine)
    assert crate("load", "1")["state_checksum"] is not None
    assert crate("load", "1")["sink_commit_statuses"] == {"sink": {"Failed": "no"}}
    assert crate("recover")["chosen_id"] == 1


def test_both_recover_the_same(
    crate: Crate, checkpoints: CheckpointStore, store: LocalStore
) -> None:
    """A damaged manifest and a damaged sidecar are passed over by both."""
    for number in (1, 2, 3):
        checkpoints.save_with_state(CheckpointManifest.new(number, number), SIDECAR)
    assert crate("recover") == {"chosen_id": 3, "skipped": [], "examined": 3}
    store.put(KEYS.manifest(3), b"{")
    store.put(KEYS.state(2), b"damaged")
    theirs, ours = crate("recover"), checkpoints.recover_latest_validated()
    assert theirs["chosen_id"] == ours.chosen_id == 1
    assert [number for number, _ in theirs["skipped"]] == [number for number, _ in ours.skipped]


def test_a_pruned_store_is_whole_for_them(crate: Crate, checkpoints: CheckpointStore) -> None:
    """No dangling pointer, no orphan."""
    for number in range(1, 6):
        checkpoints.save_with_state(CheckpointManifest.new(number, number), SIDECAR)
    checkpoints.prune(2)
    assert crate("list")["ids"] == [4, 5]
    assert crate("latest")["checkpoint_id"] == 5
    assert crate("orphans") == 0


def test_our_unknown_fields_do_not_disturb_them(
    crate: Crate, checkpoints: CheckpointStore, store: LocalStore
) -> None:
    """A manifest with a `holdfast` object is a manifest to them."""
    extra = {"holdfast": {"format": 1, "files": {"paths": ["a"] * 100}, "big": U64_MAX}}
    manifest = replace(CheckpointManifest.new(1, 1), extra=extra)
    store.put(KEYS.manifest(1), manifest.encode())
    assert crate("recover")["chosen_id"] == 1
    assert crate("list")["pairs"] == [[1, 1]]
    assert checkpoints.recover_latest_validated().chosen_id == 1


def test_our_batches_are_decoded(crate: Crate, store: LocalStore, tmp_path: Path) -> None:
    """Every part, compressed by our library, with keys and data as they were added."""
    mixed = [("a", b"one"), ("a", b""), ("größe", bytes(100_000)), ("b", bytes(range(256)) * 9)]
    noise = [("noise", random.Random(1).randbytes(100_000))]
    batcher = CheckpointBatcher(store, "q")
    for epoch, entries in ((1, mixed), (1, mixed), (2, noise)):
        for key, data in entries:
            batcher.add(key, data)
        written = batcher.flush(epoch)
        assert written is not None
        theirs = crate("decode", str(tmp_path / written))
        assert [(key, bytes(data)) for key, data in theirs] == entries


def test_our_distributed_manifest_is_read_equal(crate: Crate, tmp_path: Path) -> None:
    """All nine fields, at the edges of their ranges."""
    path = tmp_path / "manifest.json"
    path.write_bytes(full_distributed().encode(pretty=True))
    assert crate("parse-distributed", str(path)) == json.loads(full_distributed().encode())


def test_a_distributed_checkpoint_of_ours_is_a_manifest_to_them(
    crate: Crate, store: LocalStore, tmp_path: Path
) -> None:
    """What `save` writes, and not only the sample."""
    paths = CheckpointPaths("q/checkpoints")
    empty = CheckpointManifestV2.new(CheckpointId.now(), U64_MAX)
    states = [PartitionState(operator="a/b", partition=n, data=b"x") for n in range(3)]
    saved = DistributedCheckpoints(store, paths).save(empty, states)
    key = paths.manifest(saved.checkpoint_id)
    assert crate("parse-distributed", str(tmp_path / key)) == saved.to_json()
