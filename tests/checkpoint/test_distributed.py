"""Distributed checkpoints: every partition is in the manifest, and `_latest` only goes forward."""

from __future__ import annotations

import hashlib
import random
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from holdfast.checkpoint import DistributedCheckpoints, PartitionState
from holdfast.errors import (
    AlreadyExistsError,
    ConfigError,
    CorruptionError,
    MisuseError,
    NotFoundError,
    UnavailableError,
)
from holdfast.ids import CheckpointId
from holdfast.layout import CheckpointPaths
from holdfast.manifest import (
    CheckpointManifestV2,
    OperatorSnapshotEntry,
    PartitionSnapshotEntry,
    SourceOffsetEntry,
)
from holdfast.testing import Fault, FaultyStore, lost_reply
from tests.checkpoint.support import contents

if TYPE_CHECKING:
    from holdfast.objectstore import ObjectStore

PATHS = CheckpointPaths()
IDS = [CheckpointId.parse(f"0190b6d5-3b7c-7def-8123-45678900000{n}") for n in range(4)]
SOURCE = SourceOffsetEntry(source_type="kafka", offsets={"1": "2", "0": "1"}, epoch=3)


def new(index: int = 0) -> CheckpointManifestV2:
    return CheckpointManifestV2(
        checkpoint_id=IDS[index], epoch=index + 1, timestamp_ms=1, source_offsets={"s": SOURCE}
    )


def parts(count: int = 3) -> list[PartitionState]:
    return [
        PartitionState(operator=f"op{n % 2}", partition=n // 2, data=b"%d" % n, is_delta=n % 3 == 2)
        for n in range(count)
    ]


@pytest.fixture
def distributed(store: ObjectStore) -> DistributedCheckpoints:
    return DistributedCheckpoints(store)


def put_seed(store: ObjectStore, index: int = 0) -> CheckpointManifestV2:
    """A checkpoint as the seed wrote it: no "/" after the id, whole keys as paths."""
    checkpoint = IDS[index]
    key = f"checkpoints/{checkpoint}operators/agg/partition-0.snap"
    store.put(key, b"seed")
    entry = PartitionSnapshotEntry(
        partition_id=0,
        is_delta=False,
        path=key,
        size_bytes=4,
        sha256=hashlib.sha256(b"seed").hexdigest(),
    )
    manifest = CheckpointManifestV2.new(checkpoint, 1)
    manifest.operators["agg"] = OperatorSnapshotEntry(partitions=[entry], total_bytes=4)
    store.put(PATHS.seed_manifest(checkpoint), manifest.encode(pretty=True))
    return manifest


def test_what_was_saved_is_loaded(distributed: DistributedCheckpoints) -> None:
    """Manifest and partitions come back."""
    saved = distributed.save(new(), parts())
    assert distributed.load(IDS[0]) == saved
    assert distributed.load_latest() == saved
    entry = saved.operators["op1"].partitions[0]
    assert distributed.load_partition(IDS[0], entry) == b"1"


def test_no_partition_is_lost(store: ObjectStore) -> None:
    """With more partitions than uploads at a time, every one is in the manifest, and is there."""
    distributed = DistributedCheckpoints(store, max_concurrent=3)
    saved = distributed.save(new(), parts(40))
    entries = [entry for item in saved.operators.values() for entry in item.partitions]
    assert len(entries) == 40
    assert sorted(distributed.load_partition(IDS[0], entry) for entry in entries) == sorted(
        b"%d" % n for n in range(40)
    )


def test_the_order_is_fixed(distributed: DistributedCheckpoints, store: ObjectStore) -> None:
    """The same partitions in any order give the same objects, byte for byte."""
    shuffled = parts(12)
    random.Random(1).shuffle(shuffled)
    saved = distributed.save(new(), parts(12))
    before = contents(store)
    assert distributed.save(new(), shuffled) == saved
    assert contents(store) == before


def test_the_entries_say_size_and_hash(distributed: DistributedCheckpoints) -> None:
    """And a path from the checkpoint's own directory."""
    saved = distributed.save(new(), [PartitionState(operator="a/b", partition=7, data=b"xyz")])
    assert saved.operators["a/b"].partitions == [
        PartitionSnapshotEntry(
            partition_id=7,
            is_delta=False,
            path="operators/a%2Fb/partition-7.snap",
            size_bytes=3,
            sha256=hashlib.sha256(b"xyz").hexdigest(),
        )
    ]
    assert (saved.operators["a/b"].total_bytes, saved.total_size_bytes) == (3, 3)


def test_the_objects_are_those_of_the_layout(
    distributed: DistributedCheckpoints, store: ObjectStore
) -> None:
    """Manifest, partitions, source offsets and pointer, each under its documented key."""
    distributed.save(
        new(),
        [
            PartitionState(operator="agg", partition=0, data=b"full"),
            PartitionState(operator="agg", partition=0, data=b"delta", is_delta=True),
        ],
    )
    root = f"checkpoints/{IDS[0]}/"
    assert set(contents(store)) == {
        f"{root}manifest.json",
        f"{root}operators/agg/partition-0.snap",
        f"{root}operators/agg/partition-0.delta",
        f"{root}offsets/s.json",
        "checkpoints/_latest",
    }
    assert store.get("checkpoints/_latest").body == str(IDS[0]).encode()


def test_a_copied_store_still_works(store: ObjectStore) -> None:
    """Nothing in a manifest says where the store is."""
    saved = DistributedCheckpoints(store).save(new(), parts())
    for key, body in contents(store).items():
        store.put(f"copy/{key}", body)
    copied = DistributedCheckpoints(store, CheckpointPaths("copy/checkpoints"))
    assert copied.load_latest() == saved
    assert copied.verify(IDS[0]).issues == ()


def test_the_manifest_comes_last_and_then_the_pointer(store: ObjectStore) -> None:
    """Whatever it names is durable before it exists."""
    seen = FaultyStore(store)
    DistributedCheckpoints(seen).save(new(), parts(9))
    puts = [keys[0] for verb, keys in seen.calls if verb == "put"]
    assert puts[-2:] == [PATHS.manifest(IDS[0]), PATHS.latest_pointer()]
    assert len(puts) == 9 + 1 + 2


@pytest.mark.parametrize("key", ["*partition-1.snap", "*offsets/s.json", "*manifest.json"])
def test_a_failed_upload_means_no_checkpoint(store: ObjectStore, key: str) -> None:
    """No manifest, no pointer; the same save again succeeds."""
    down = Fault(error=UnavailableError("down"), verb="put", key=key)
    distributed = DistributedCheckpoints(FaultyStore(store, [down]))
    with pytest.raises(UnavailableError):
        distributed.save(new(), parts(9))
    assert distributed.list() == []
    assert distributed.read_latest() is None
    distributed.save(new(), parts(9))
    assert distributed.verify(IDS[0]).issues == ()


def test_saving_the_same_again_is_success(
    distributed: DistributedCheckpoints, store: ObjectStore
) -> None:
    """Identical bytes are the same checkpoint."""
    distributed.save(new(), parts())
    before = contents(store)
    distributed.save(new(), parts())
    assert contents(store) == before


def test_a_lost_reply_is_our_own_success(store: ObjectStore) -> None:
    """The second try finds its own objects."""
    distributed = DistributedCheckpoints(FaultyStore(store, [lost_reply(verb="put")]))
    with pytest.raises(UnavailableError):
        distributed.save(new(), parts())
    distributed.save(new(), parts())
    assert distributed.verify(IDS[0]).issues == ()


@pytest.mark.parametrize("what", ["partition", "manifest"])
def test_another_checkpoint_under_this_id_is_an_error(
    distributed: DistributedCheckpoints, store: ObjectStore, what: str
) -> None:
    """It is untouched, and the hint is to take a new id."""
    distributed.save(new(), parts())
    before = contents(store)
    other = replace(new(), epoch=9) if what == "manifest" else new()
    data = parts() if what == "manifest" else [replace(parts()[0], data=b"other")]
    with pytest.raises(AlreadyExistsError, match="save under a new"):
        distributed.save(other, data)
    assert contents(store) == before


def test_the_pointer_never_moves_back(distributed: DistributedCheckpoints) -> None:
    """A slower writer with an older id does not become the latest."""
    for index in (0, 2, 1):
        distributed.save(new(index), parts())
    assert distributed.read_latest() == IDS[2]
    assert distributed.list() == IDS[:3]


def test_a_pointer_that_lags_or_is_damaged_hides_nothing(
    distributed: DistributedCheckpoints, store: ObjectStore
) -> None:
    """The listing knows what there is."""
    for index in (0, 1):
        distributed.save(new(index), parts())
    for text in (str(IDS[0]).encode(), str(IDS[3]).encode(), b"junk", b""):
        store.put(PATHS.latest_pointer(), text)
        latest = distributed.load_latest()
        assert latest is not None
        assert latest.checkpoint_id == IDS[1]


def test_a_damaged_pointer_is_an_error_to_who_asks_for_it(
    distributed: DistributedCheckpoints, store: ObjectStore
) -> None:
    """And the next save mends it, to the newest there is."""
    distributed.save(new(2), parts())
    store.put(PATHS.latest_pointer(), b"junk")
    with pytest.raises(CorruptionError):
        distributed.read_latest()
    distributed.save(new(1), parts())
    assert distributed.read_latest() == IDS[2]


def test_an_empty_store_has_nothing(distributed: DistributedCheckpoints) -> None:
    """No pointer, no list, no latest."""
    assert distributed.read_latest() is None
    assert distributed.load_latest() is None
    assert distributed.list() == []
    with pytest.raises(NotFoundError):
        distributed.load(IDS[0])


def test_a_partition_that_comes_twice_is_refused(
    distributed: DistributedCheckpoints, store: ObjectStore
) -> None:
    """One of them would be lost; nothing is written."""
    with pytest.raises(ConfigError, match="twice"):
        distributed.save(new(), [*parts(), parts()[0]])
    assert contents(store) == {}


@pytest.mark.parametrize(
    "part",
    [
        PartitionState(operator="", partition=0, data=b""),
        PartitionState(operator="x" * 201, partition=0, data=b""),
        PartitionState(operator="agg", partition=2**32, data=b""),
    ],
    ids=["empty", "over-long", "partition"],
)
def test_what_no_key_can_hold_is_refused(
    distributed: DistributedCheckpoints, store: ObjectStore, part: PartitionState
) -> None:
    """Before anything is written."""
    with pytest.raises(ConfigError):
        distributed.save(new(), [*parts(), part])
    assert contents(store) == {}


def test_a_manifest_with_operators_is_refused(distributed: DistributedCheckpoints) -> None:
    """It would name what this save does not write."""
    saved = distributed.save(new(), parts())
    with pytest.raises(ConfigError):
        distributed.save(saved, parts())


def test_deleting_removes_everything_of_an_id(
    distributed: DistributedCheckpoints, store: ObjectStore
) -> None:
    """And nothing of any other."""
    distributed.save(new(0), parts(5))
    distributed.save(new(1), parts(5))
    kept = {key: body for key, body in contents(store).items() if str(IDS[0]) not in key}
    assert distributed.delete(IDS[0]) == 5 + 1 + 1
    assert contents(store) == kept


def test_deleting_takes_the_manifest_first(store: ObjectStore) -> None:
    """Killed in between, the checkpoint does not exist."""
    DistributedCheckpoints(store).save(new(0), parts())
    DistributedCheckpoints(store).save(new(1), parts())
    seen = FaultyStore(store)
    DistributedCheckpoints(seen).delete(IDS[0])
    first = next(keys for verb, keys in seen.calls if verb == "delete")
    assert first == (PATHS.manifest(IDS[0]),)


def test_the_latest_is_not_deleted_unless_told(distributed: DistributedCheckpoints) -> None:
    """Being told is one keyword."""
    distributed.save(new(), parts())
    with pytest.raises(MisuseError, match="even_latest"):
        distributed.delete(IDS[0])
    assert distributed.verify(IDS[0]).valid
    distributed.delete(IDS[0], even_latest=True)
    assert distributed.list() == []


def test_what_a_killed_save_left_can_be_deleted(
    distributed: DistributedCheckpoints, store: ObjectStore
) -> None:
    """There is no manifest, and still all objects of the id go."""
    store.put(PATHS.snapshot(IDS[0], "agg", 0), b"left")
    assert distributed.delete(IDS[0]) == 1
    assert contents(store) == {}


def test_the_seeds_form_is_read(distributed: DistributedCheckpoints, store: ObjectStore) -> None:
    """Without the "/" after the id: listed, loaded, verified, its partitions read."""
    manifest = put_seed(store)
    assert distributed.list() == [IDS[0]]
    assert distributed.load(IDS[0]) == distributed.load_latest() == manifest
    assert distributed.verify(IDS[0]).issues == ()
    entry = manifest.operators["agg"].partitions[0]
    assert distributed.load_partition(IDS[0], entry) == b"seed"


def test_the_seeds_form_is_deleted(distributed: DistributedCheckpoints, store: ObjectStore) -> None:
    """Which the seed itself fails to do."""
    put_seed(store)
    assert distributed.delete(IDS[0]) == 2
    assert contents(store) == {}


def test_both_forms_are_one_list(distributed: DistributedCheckpoints, store: ObjectStore) -> None:
    """In the order of their ids."""
    put_seed(store, 1)
    distributed.save(new(0), parts())
    distributed.save(new(2), parts())
    assert distributed.list() == IDS[:3]


def test_a_source_of_the_seed_may_have_any_name(
    distributed: DistributedCheckpoints, store: ObjectStore
) -> None:
    """A name that no key of ours can hold is no reason to condemn its checkpoint."""
    manifest = put_seed(store)
    manifest.source_offsets["x" * 300] = SOURCE
    store.put(PATHS.seed_manifest(IDS[0]), manifest.encode())
    assert distributed.verify(IDS[0]).valid


@pytest.mark.parametrize("base", ["/x", "a//b", "../x"])
def test_a_base_that_no_store_can_hold_is_refused(store: ObjectStore, base: str) -> None:
    """At construction, not at the first write."""
    with pytest.raises(ConfigError):
        DistributedCheckpoints(store, CheckpointPaths(base))


@pytest.mark.parametrize("concurrent", [0, -1])
def test_no_uploads_at_all_are_refused(store: ObjectStore, concurrent: int) -> None:
    """At least one must be under way."""
    with pytest.raises(ConfigError):
        DistributedCheckpoints(store, max_concurrent=concurrent)
