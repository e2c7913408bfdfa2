"""Loading: both layouts, and never "no checkpoint" where there is one."""

from __future__ import annotations

import pytest

from holdfast.checkpoint import CheckpointStore
from holdfast.errors import CorruptionError, UnavailableError
from holdfast.objectstore import MemoryStore, MeteredStore, ObjectStore
from holdfast.testing import Fault, FaultyStore
from tests.checkpoint.support import KEYS, Meanwhile, manifest, put_flat


def test_an_empty_store_has_no_latest(checkpoints: CheckpointStore) -> None:
    """Nothing at all is the only thing that gives none."""
    assert checkpoints.load_latest() is None
    assert checkpoints.load_by_id(1) is None
    assert checkpoints.list() == []
    assert checkpoints.list_ids() == []


@pytest.mark.parametrize("text", [b'{"checkpoint_id":99}', b"{", b"", b'{"checkpoint_id":0}'])
def test_a_dangling_or_damaged_pointer_is_not_a_fresh_start(
    checkpoints: CheckpointStore, store: ObjectStore, text: bytes
) -> None:
    """The listing knows what there is."""
    checkpoints.save(manifest(1))
    checkpoints.save(manifest(2))
    store.put(KEYS.latest, text)
    assert checkpoints.load_latest() == manifest(2)


def test_a_missing_pointer_is_not_a_fresh_start(
    checkpoints: CheckpointStore, store: ObjectStore
) -> None:
    """A pointer that someone deleted changes nothing."""
    checkpoints.save(manifest(1))
    store.delete([KEYS.latest])
    assert checkpoints.load_latest() == manifest(1)


def test_a_pointer_that_lags_does_not_hide_a_checkpoint(
    checkpoints: CheckpointStore, store: ObjectStore
) -> None:
    """A writer killed between manifest and pointer finds its checkpoint at the restart."""
    checkpoints.save(manifest(1))
    store.put(KEYS.manifest(2), manifest(2).encode())
    assert checkpoints.load_latest() == manifest(2)


def test_a_pointer_shortens_the_listing() -> None:
    """Of 1,500 checkpoints, one page is listed, and not two."""
    store = MemoryStore()
    for number in range(1, 1501):
        store.put(KEYS.manifest(number), manifest(number).encode())
    store.put(KEYS.latest, b'{"checkpoint_id":1500}')
    metered = MeteredStore(store)
    assert CheckpointStore(metered, "q").load_latest() == manifest(1500)
    assert metered.meter.usage().requests["list"] == 2  # one of each layout


def test_seven_digits_come_after_six(checkpoints: CheckpointStore, store: ObjectStore) -> None:
    """Ids are numbers, whatever their keys sort like, and whatever the pointer says."""
    for number in (999_999, 1_000_000, 150_000):
        checkpoints.save(manifest(number))
    assert checkpoints.list_ids() == [150_000, 999_999, 1_000_000]
    for named in (150_000, 999_999, 15_000_000):
        store.put(KEYS.latest, b'{"checkpoint_id":%d}' % named)
        assert checkpoints.load_latest() == manifest(1_000_000)


def test_a_corrupt_latest_is_an_error(checkpoints: CheckpointStore, store: ObjectStore) -> None:
    """It is neither skipped in silence nor taken for nothing."""
    checkpoints.save(manifest(1))
    store.put(KEYS.manifest(2), b"{")
    with pytest.raises(CorruptionError):
        checkpoints.load_latest()


def test_a_store_that_does_not_answer_is_an_error(store: ObjectStore) -> None:
    """Unknown is not none, whichever call fails."""
    CheckpointStore(store, "q").save(manifest(1))
    for verb in ("get", "list"):
        down = Fault(error=UnavailableError("down"), verb=verb)
        with pytest.raises(UnavailableError):
            CheckpointStore(FaultyStore(store, [down]), "q").load_latest()


def test_a_checkpoint_pruned_while_it_is_loaded_gives_the_next() -> None:
    """Listed and gone means: list again."""
    store = Meanwhile()
    checkpoints = CheckpointStore(store, "q")
    checkpoints.save(manifest(1))
    store.put(KEYS.manifest(2), manifest(2).encode())
    store.before["get", KEYS.manifest(2)] = lambda: store.delete([KEYS.manifest(2)])
    assert checkpoints.load_latest() == manifest(1)


def test_a_manifest_under_another_number_is_corrupt(
    checkpoints: CheckpointStore, store: ObjectStore
) -> None:
    """Two objects swapped are found at loading."""
    store.put(KEYS.manifest(2), manifest(3).encode())
    with pytest.raises(CorruptionError, match="another checkpoint"):
        checkpoints.load_by_id(2)


def test_a_corrupt_manifest_does_not_give_way_to_the_flat_layout(
    checkpoints: CheckpointStore, store: ObjectStore
) -> None:
    """An old object of the same id is not what was asked for."""
    put_flat(store, 1)
    store.put(KEYS.manifest(1), b"{")
    with pytest.raises(CorruptionError):
        checkpoints.load_by_id(1)


def test_the_flat_layout_is_read(checkpoints: CheckpointStore, store: ObjectStore) -> None:
    """Manifest, sidecar and latest of an old store are there as ever."""
    put_flat(store, 1)
    put_flat(store, 2, b"old state")
    assert checkpoints.load_latest() == manifest(2)
    assert checkpoints.load_state_data(2) == b"old state"
    assert checkpoints.list() == [(1, 1), (2, 2)]


def test_both_layouts_are_one_list(checkpoints: CheckpointStore, store: ObjectStore) -> None:
    """A store that was upgraded goes on where it was, in the order of the ids."""
    put_flat(store, 1)
    put_flat(store, 4)
    checkpoints.save(manifest(3))
    checkpoints.save(manifest(5))
    assert checkpoints.list_ids() == [1, 3, 4, 5]
    assert checkpoints.load_latest() == manifest(5)


def test_list_gives_what_can_be_read(checkpoints: CheckpointStore, store: ObjectStore) -> None:
    """Corrupt ones are among the ids, and not among the pairs."""
    checkpoints.save(manifest(1, epoch=10))
    store.put(KEYS.manifest(2), b"{")
    assert checkpoints.list() == [(1, 10)]
    assert checkpoints.list_ids() == [1, 2]


def test_strangers_are_not_listed(checkpoints: CheckpointStore, store: ObjectStore) -> None:
    """Objects with other names, below or beside ours, are no checkpoints."""
    for name in ("manifests/manifest-1.json", "manifests/x/manifest-000001.json", "manifest.json"):
        store.put(f"q/{name}", b"{}")
    assert checkpoints.list_ids() == []
    assert checkpoints.load_latest() is None
