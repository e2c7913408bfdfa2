"""The recovery walk: newest valid one, every reason kept, never a silent fresh start."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from holdfast.checkpoint import CheckpointStore
from holdfast.errors import CorruptionError, StoreError, UnavailableError
from holdfast.testing import Fault, FaultyStore, ManualClock
from tests.checkpoint.support import KEYS, Meanwhile, child, contents, manifest, put_flat

if TYPE_CHECKING:
    from holdfast.objectstore import ObjectStore


def test_the_newest_valid_one_is_chosen(checkpoints: CheckpointStore) -> None:
    """With nothing wrong, that is the newest, and only it is looked at."""
    for number in (1, 2, 3):
        checkpoints.save(manifest(number))
    report = checkpoints.recover_latest_validated()
    assert (report.chosen_id, report.skipped, report.examined) == (3, [], 1)


def test_each_newer_one_is_reported_with_its_reason(
    checkpoints: CheckpointStore, store: ObjectStore
) -> None:
    """Newest first, and `examined` counts those that were looked at."""
    checkpoints.save(manifest(1))
    checkpoints.save(manifest(2))
    checkpoints.save_with_state(manifest(3), b"state")
    checkpoints.save(manifest(4))
    store.put(KEYS.manifest(4), b"{")
    store.delete([KEYS.state(3)])
    report = checkpoints.recover_latest_validated()
    assert (report.chosen_id, report.examined) == (2, 3)
    assert [number for number, _ in report.skipped] == [4, 3]
    assert "corrupt manifest" in report.skipped[0][1]
    assert "not there" in report.skipped[1][1]


def test_an_empty_store_is_a_fresh_start(checkpoints: CheckpointStore) -> None:
    """No checkpoint at all is the only fresh start there is."""
    report = checkpoints.recover_latest_validated()
    assert (report.chosen_id, report.skipped, report.examined) == (None, [], 0)


def test_checkpoints_of_which_none_is_valid_are_an_error(
    checkpoints: CheckpointStore, store: ObjectStore
) -> None:
    """Starting afresh there would bury the data; an operator must decide."""
    store.put(KEYS.manifest(1), b"{")
    store.put(KEYS.manifest(2), b"")
    with pytest.raises(CorruptionError, match="none of 2 checkpoints") as caught:
        checkpoints.recover_latest_validated()
    assert caught.value.details["newest"] == 2
    assert "backup" in caught.value.hint


def test_the_pointer_is_not_asked(checkpoints: CheckpointStore, store: ObjectStore) -> None:
    """Lagging or damaged, it changes nothing, and is left as it is."""
    checkpoints.save(manifest(1))
    checkpoints.save(manifest(2))
    store.put(KEYS.latest, b"junk")
    assert checkpoints.recover_latest_validated().chosen_id == 2
    assert store.get(KEYS.latest).body == b"junk"


def test_an_unreadable_object_does_not_end_the_walk(store: ObjectStore) -> None:
    """One bad sector costs one checkpoint, and the report says which and why."""
    checkpoints = CheckpointStore(store, "q")
    checkpoints.save(manifest(1))
    checkpoints.save(manifest(2))
    broken = Fault(error=StoreError("input/output error"), verb="get", key="*manifest-000002*")
    report = CheckpointStore(FaultyStore(store, [broken]), "q").recover_latest_validated()
    assert report.chosen_id == 1
    assert "input/output error" in report.skipped[0][1]


def test_a_store_that_does_not_answer_ends_the_walk(store: ObjectStore) -> None:
    """A passing outage must not choose an older checkpoint."""
    checkpoints = CheckpointStore(store, "q")
    checkpoints.save(manifest(1))
    checkpoints.save(manifest(2))
    down = Fault(error=UnavailableError("down"), verb="get", key="*manifest-000002*")
    with pytest.raises(UnavailableError):
        CheckpointStore(FaultyStore(store, [down]), "q").recover_latest_validated()


def test_an_increment_with_a_damaged_parent_is_passed_over(
    checkpoints: CheckpointStore, store: ObjectStore
) -> None:
    """The walk goes down to one that stands by itself."""
    checkpoints.save(manifest(1))
    checkpoints.save(manifest(2))
    checkpoints.save(child(3, 2))
    store.put(KEYS.manifest(2), b"{")
    report = checkpoints.recover_latest_validated()
    assert report.chosen_id == 1
    assert "parent 2" in report.skipped[0][1]


def test_a_long_line_of_increments_is_read_once(store: ObjectStore) -> None:
    """Each manifest is fetched once in a walk, however many build on it."""
    checkpoints = CheckpointStore(store, "q")
    for number in range(2, 30):
        checkpoints.save(child(number, number - 1))
    checkpoints.save(manifest(1))
    store.put(KEYS.manifest(1), b"{")
    counting = FaultyStore(store)
    with pytest.raises(CorruptionError):
        CheckpointStore(counting, "q").recover_latest_validated()
    assert sum(verb == "get" for verb, _ in counting.calls) == 29


def test_the_flat_layout_is_recovered(checkpoints: CheckpointStore, store: ObjectStore) -> None:
    """An old store, and one that was upgraded and whose new checkpoint is damaged."""
    put_flat(store, 1)
    assert checkpoints.recover_latest_validated().chosen_id == 1
    store.put(KEYS.manifest(2), b"{")
    assert checkpoints.recover_latest_validated().chosen_id == 1


def test_a_prune_during_the_walk_is_no_corruption() -> None:
    """Everything listed was pruned meanwhile: what is new is found by listing again."""
    store = Meanwhile()
    checkpoints = CheckpointStore(store, "q")
    checkpoints.save(manifest(1))

    def replace_it() -> None:
        CheckpointStore(store, "q").save(manifest(2))
        store.delete([KEYS.manifest(1)])

    store.before["get", KEYS.manifest(1)] = replace_it
    assert checkpoints.recover_latest_validated().chosen_id == 2


def test_recovery_changes_nothing(checkpoints: CheckpointStore, store: ObjectStore) -> None:
    """It reads, and repairs nothing."""
    checkpoints.save(manifest(1))
    store.put(KEYS.manifest(2), b"{")
    before = contents(store)
    checkpoints.recover_latest_validated()
    assert contents(store) == before


def test_the_time_is_that_of_the_clock(
    checkpoints: CheckpointStore, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`elapsed` is measured with the clock that was given."""
    checkpoints.save(manifest(1))
    times = iter([10.0, 12.5])
    monkeypatch.setattr(clock, "monotonic", lambda: next(times))
    assert checkpoints.recover_latest_validated().elapsed == timedelta(seconds=2.5)
