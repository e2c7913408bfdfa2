"""Pruning: old checkpoints go, and nothing that anyone could need goes with them."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest

from holdfast.checkpoint import CheckpointStore
from holdfast.errors import (
    AlreadyExistsError,
    ConfigError,
    CorruptionError,
    DeleteError,
    UnavailableError,
)
from holdfast.objectstore import MemoryStore, MeteredStore, ObjectStore
from holdfast.testing import Fault, FaultyStore
from tests.checkpoint.support import KEYS, child, contents, manifest, names, put_flat

if TYPE_CHECKING:
    from collections.abc import Iterable


def save_all(checkpoints: CheckpointStore, *numbers: int) -> None:
    for number in numbers:
        checkpoints.save_with_state(manifest(number), b"state")


class StubbornStore(MemoryStore):
    """Will not delete keys that contain this text."""

    stubborn = ""

    def delete(self, keys: Iterable[str]) -> None:
        wanted = list(keys)
        failed = {key: "held" for key in wanted if self.stubborn and self.stubborn in key}
        super().delete(key for key in wanted if key not in failed)
        if failed:
            raise DeleteError(failed)


def test_the_oldest_go(checkpoints: CheckpointStore, store: ObjectStore) -> None:
    """The newest stay, and the number that went is returned."""
    save_all(checkpoints, 1, 2, 3, 4, 5)
    assert checkpoints.prune(2) == 3
    assert checkpoints.list_ids() == [4, 5]
    assert names(store) == {
        *(f"manifests/manifest-00000{n}.json" for n in (4, 5)),
        *(f"checkpoints/state-00000{n}.bin" for n in (4, 5)),
        "manifests/latest.json",
        "manifests/pruned.json",
    }


def test_a_pruned_id_is_not_saved_again(checkpoints: CheckpointStore) -> None:
    """A writer that was asleep is refused, and what it tried to save is not there."""
    save_all(checkpoints, 1, 2, 3, 4, 5)
    checkpoints.prune(2)
    with pytest.raises(AlreadyExistsError, match="this id was pruned"):
        checkpoints.save(manifest(2))
    assert checkpoints.list_ids() == [4, 5]


def test_an_old_id_that_a_prune_has_kept_can_be_saved_again(checkpoints: CheckpointStore) -> None:
    """The very same manifest again is success, as always."""
    save_all(checkpoints, 1, 2, 3)
    checkpoints.prune(1)
    save_all(checkpoints, 3)
    assert checkpoints.list_ids() == [3]


def test_a_prune_that_dies_before_it_deletes_refuses_no_id_that_is_there(
    checkpoints: CheckpointStore, store: ObjectStore
) -> None:
    """Its note comes first, and what it did not delete is still there."""
    save_all(checkpoints, 1, 2, 3)
    broken = FaultyStore(store, [Fault(error=UnavailableError("down"), verb="delete")])
    with pytest.raises(UnavailableError):
        CheckpointStore(broken, "q").prune(1)
    save_all(checkpoints, 2)
    assert checkpoints.list_ids() == [1, 2, 3]


@pytest.mark.parametrize("keep", [2, 3, 100])
def test_nothing_goes_where_there_are_few(checkpoints: CheckpointStore, keep: int) -> None:
    """As many as are kept, or fewer, and nothing is deleted."""
    save_all(checkpoints, 1, 2)
    assert checkpoints.prune(keep) == 0
    assert checkpoints.list_ids() == [1, 2]


def test_keeping_none_keeps_the_latest(checkpoints: CheckpointStore) -> None:
    """A prune never leaves an empty store and a dangling pointer."""
    save_all(checkpoints, 1, 2, 3)
    assert checkpoints.prune(0) == 2
    assert checkpoints.load_latest() is not None
    assert checkpoints.list_ids() == [3]
    assert set(checkpoints.last_prune.protected) == {3}


def test_what_the_pointer_names_stays(checkpoints: CheckpointStore, store: ObjectStore) -> None:
    """Readers of the seed's format go by it."""
    save_all(checkpoints, 1, 2, 3)
    store.put(KEYS.latest, b'{"checkpoint_id":1}')
    assert checkpoints.prune(1) == 1
    assert checkpoints.list_ids() == [1, 3]
    assert checkpoints.last_prune.protected == {1: "named by latest.json"}


def test_the_newest_valid_one_stays(checkpoints: CheckpointStore, store: ObjectStore) -> None:
    """Damaged checkpoints do not push out the last one that can be recovered."""
    save_all(checkpoints, 1, 2, 3, 4)
    for number in (3, 4):
        store.put(KEYS.manifest(number), b"{")
    assert checkpoints.prune(2) == 1
    assert checkpoints.list_ids() == [2, 3, 4]
    assert checkpoints.recover_latest_validated().chosen_id == 2


def test_the_highest_number_stays_even_if_damaged(
    checkpoints: CheckpointStore, store: ObjectStore
) -> None:
    """A writer that counts on from the highest id must not get one that was used before."""
    save_all(checkpoints, 1, 2)
    store.put(KEYS.manifest(3), b"{")
    assert checkpoints.prune(0) == 1
    assert checkpoints.list_ids() == [2, 3]


def test_nothing_goes_where_none_is_valid(checkpoints: CheckpointStore, store: ObjectStore) -> None:
    """What is there may be all that can be repaired."""
    for number in (1, 2, 3):
        store.put(KEYS.manifest(number), b"{")
    before = contents(store)
    with pytest.raises(CorruptionError, match="none is removed"):
        checkpoints.prune(1)
    assert contents(store) == before


def test_parents_stay_however_far_back(checkpoints: CheckpointStore) -> None:
    """A kept increment keeps all that it builds on, and nothing beside it."""
    save_all(checkpoints, 1, 2)
    for number, parent in ((3, 2), (4, 3), (6, 4)):
        checkpoints.save(child(number, parent))
    save_all(checkpoints, 5, 7)
    assert checkpoints.prune(2) == 2
    assert checkpoints.list_ids() == [2, 3, 4, 6, 7]
    assert checkpoints.validate_checkpoint(6).valid


def test_parents_of_a_protected_one_stay(checkpoints: CheckpointStore, store: ObjectStore) -> None:
    """The last valid one would be worthless without its parent."""
    save_all(checkpoints, 1, 2)
    checkpoints.save(child(3, 1))
    store.put(KEYS.manifest(4), b"{")
    assert checkpoints.prune(1) == 1
    assert checkpoints.list_ids() == [1, 3, 4]
    assert checkpoints.recover_latest_validated().chosen_id == 3


def test_parents_that_another_process_saved_stay(store: ObjectStore) -> None:
    """Who prunes need not have saved."""
    writer = CheckpointStore(store, "q")
    save_all(writer, 1, 2)
    writer.save(child(3, 1))
    assert CheckpointStore(store, "q").prune(1) == 1
    assert writer.list_ids() == [1, 3]


def test_the_flat_layout_is_pruned(checkpoints: CheckpointStore, store: ObjectStore) -> None:
    """Old checkpoints go, manifest and sidecar, and the one that is their latest stays."""
    put_flat(store, 1, b"old")
    put_flat(store, 2, b"old")
    put_flat(store, 3)
    save_all(checkpoints, 4)
    assert checkpoints.prune(1) == 2
    assert checkpoints.list_ids() == [3, 4]
    assert not {name for name in names(store) if "checkpoint_00000" in name and "3" not in name}


def test_seven_digits_are_newer_than_six(checkpoints: CheckpointStore) -> None:
    """Oldest means lowest number."""
    save_all(checkpoints, 999_999, 1_000_000)
    checkpoints.prune(1)
    assert checkpoints.list_ids() == [1_000_000]


def test_only_what_is_gone_is_counted() -> None:
    """A manifest that could not be deleted is still a checkpoint, with its sidecar."""
    store = StubbornStore()
    checkpoints = CheckpointStore(store, "q")
    save_all(checkpoints, 1, 2, 3)
    store.stubborn = "manifest-000001"
    with pytest.raises(DeleteError) as caught:
        checkpoints.prune(1)
    assert caught.value.failed == {KEYS.manifest(1): "held"}
    assert checkpoints.last_prune.removed == (2,)
    assert checkpoints.validate_checkpoint(1).valid


def test_a_sidecar_that_stays_is_reported() -> None:
    """The checkpoint is gone, and what is left of it has a name."""
    store = StubbornStore()
    checkpoints = CheckpointStore(store, "q")
    save_all(checkpoints, 1, 2)
    store.stubborn = "state-000001"
    with pytest.raises(DeleteError):
        checkpoints.prune(1)
    assert checkpoints.last_prune.removed == (1,)
    assert checkpoints.last_prune.failed == {KEYS.state(1): "held"}


def test_manifests_go_before_sidecars(store: ObjectStore) -> None:
    """No manifest is ever without what it names."""
    save_all(CheckpointStore(store, "q"), 1, 2, 3)
    seen = FaultyStore(store)
    CheckpointStore(seen, "q").prune(1)
    first, second = (keys for verb, keys in seen.calls if verb == "delete")
    assert all("manifest" in key for key in first)
    assert all("state" in key for key in second)


def test_a_save_prunes_if_asked_to(store: ObjectStore) -> None:
    """`max_retained` keeps so many after each save."""
    checkpoints = CheckpointStore(store, "q", 2)
    save_all(checkpoints, 1, 2, 3, 4)
    assert checkpoints.list_ids() == [3, 4]


def test_a_save_does_not_prune_unless_asked_to(checkpoints: CheckpointStore) -> None:
    """0 means that everything stays."""
    save_all(checkpoints, *range(1, 8))
    assert checkpoints.list_ids() == list(range(1, 8))


def test_a_prune_that_fails_does_not_fail_the_save(caplog: pytest.LogCaptureFixture) -> None:
    """The checkpoint is saved; what is left is logged, and told by `last_prune`."""
    store = StubbornStore()
    store.stubborn = "manifest-000001"
    checkpoints = CheckpointStore(store, "q", 1)
    with caplog.at_level(logging.WARNING):
        save_all(checkpoints, 1, 2)
    assert checkpoints.list_ids() == [1, 2]
    assert set(checkpoints.last_prune.failed) == {KEYS.manifest(1)}
    assert "prune after save failed" in caplog.text


def test_an_outage_during_the_prune_does_not_fail_the_save(store: ObjectStore) -> None:
    """Nor does a store that stops answering right after the manifest."""
    down = Fault(error=UnavailableError("down"), verb="delete", nth=0)
    checkpoints = CheckpointStore(FaultyStore(store, [down]), "q", 1)
    save_all(checkpoints, 1, 2, 3)
    assert checkpoints.list_ids() == [1, 2, 3]


def test_an_outage_fails_the_prune(store: ObjectStore) -> None:
    """Called by itself, it says so."""
    save_all(CheckpointStore(store, "q"), 1, 2)
    down = Fault(error=UnavailableError("down"), verb="get", key="*manifest-*", nth=0)
    with pytest.raises(UnavailableError):
        CheckpointStore(FaultyStore(store, [down]), "q").prune(1)


def test_a_steady_prune_reads_only_the_newest_back() -> None:
    """Each save with pruning costs the same few requests, however many are kept."""
    store = MeteredStore(MemoryStore())
    checkpoints = CheckpointStore(store, "q", 50)
    save_all(checkpoints, *range(1, 61))
    before = store.meter.usage()
    save_all(checkpoints, 61)
    spent = (store.meter.usage() - before).requests
    assert spent == {"put": 4, "get": 7, "head": 0, "list": 2, "delete": 2}


@pytest.mark.parametrize("keep", [-1, -100])
def test_a_negative_count_is_refused(checkpoints: CheckpointStore, keep: int) -> None:
    """Neither prune nor constructor takes one."""
    with pytest.raises(ConfigError):
        checkpoints.prune(keep)
    with pytest.raises(ConfigError):
        CheckpointStore(MemoryStore(), "q", keep)
