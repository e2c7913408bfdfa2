"""Saving: one manifest per number, and a pointer that never moves back."""

from __future__ import annotations

import orjson
import pytest

from holdfast.checkpoint import CheckpointStore
from holdfast.errors import AlreadyExistsError, ConfigError, UnavailableError
from holdfast.objectstore import MemoryStore, ObjectStore, RetryingStore
from holdfast.testing import Fault, FaultyStore, ManualClock, lost_reply
from tests.checkpoint.support import KEYS, Meanwhile, contents, manifest, names, put_flat


def pointer(store: ObjectStore) -> int:
    named: int = orjson.loads(store.get(KEYS.latest).body)["checkpoint_id"]
    return named


def test_a_saved_checkpoint_is_the_latest(checkpoints: CheckpointStore) -> None:
    """What was saved is loaded, by its id and as the latest."""
    checkpoints.save(manifest(1))
    assert checkpoints.load_latest() == checkpoints.load_by_id(1) == manifest(1)


def test_the_objects_are_those_of_the_seed(
    checkpoints: CheckpointStore, store: ObjectStore
) -> None:
    """Manifest and pointer are where the seed's readers look, in its form."""
    checkpoints.save(manifest(7))
    assert names(store) == {"manifests/manifest-000007.json", "manifests/latest.json"}
    assert store.get(KEYS.latest).body == b'{"checkpoint_id":7}'


def test_nothing_is_written_at_construction(store: ObjectStore) -> None:
    """A store that is only read stays as it is."""
    CheckpointStore(store, "q", 3)
    assert contents(store) == {}


def test_saving_the_same_again_is_success(checkpoints: CheckpointStore, store: ObjectStore) -> None:
    """Identical bytes are the same checkpoint, and change nothing."""
    checkpoints.save(manifest(1))
    before = contents(store)
    checkpoints.save(manifest(1))
    assert contents(store) == before


def test_a_lost_race_is_an_error(checkpoints: CheckpointStore, store: ObjectStore) -> None:
    """Another manifest under this id is never skipped over in silence, nor replaced."""
    checkpoints.save(manifest(1, epoch=1))
    with pytest.raises(AlreadyExistsError, match="greater id"):
        CheckpointStore(store, "q").save(manifest(1, epoch=2))
    assert checkpoints.load_by_id(1) == manifest(1, epoch=1)


def test_a_lost_race_does_not_move_the_pointer(store: ObjectStore) -> None:
    """The loser of an id leaves no trace."""
    CheckpointStore(store, "q").save(manifest(1))
    before = contents(store)
    with pytest.raises(AlreadyExistsError):
        CheckpointStore(store, "q").save(manifest(1, epoch=9))
    assert contents(store) == before


def test_the_pointer_never_moves_back(checkpoints: CheckpointStore, store: ObjectStore) -> None:
    """Saving 1, 3, 2 leaves 3 as the latest."""
    for number in (1, 3, 2):
        checkpoints.save(manifest(number))
    assert pointer(store) == 3
    assert checkpoints.load_latest() == manifest(3)


def test_the_pointer_never_moves_back_under_a_race() -> None:
    """A writer that read the pointer before another moved it further does not overwrite it."""
    store = Meanwhile()
    slow, fast = CheckpointStore(store, "q"), CheckpointStore(store, "q")
    slow.save(manifest(1))
    store.before["put", KEYS.latest] = lambda: fast.save(manifest(3))
    slow.save(manifest(2))
    assert pointer(store) == 3


def test_a_contended_pointer_ends_in_an_error() -> None:
    """The loop is bounded, and the error says that the checkpoint is saved."""
    store = Meanwhile()
    checkpoints = CheckpointStore(store, "q")
    checkpoints.save(manifest(1))

    def move() -> None:
        MemoryStore.put(store, KEYS.latest, b'{"checkpoint_id": 1}' + b" " * len(moves))
        moves.append(1)
        store.before["put", KEYS.latest] = move

    moves: list[int] = []
    store.before["put", KEYS.latest] = move
    with pytest.raises(UnavailableError, match="the checkpoint is saved"):
        checkpoints.save(manifest(2))
    assert len(moves) == 32
    assert checkpoints.load_latest() == manifest(2)


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"checkpoint_id": "2"}', b"\xff"])
def test_a_damaged_pointer_is_mended_by_the_next_save(
    checkpoints: CheckpointStore, store: ObjectStore, damage: bytes
) -> None:
    """It then names the highest id there is, not merely the one just saved."""
    checkpoints.save(manifest(5))
    store.put(KEYS.latest, damage)
    checkpoints.save(manifest(4))
    assert pointer(store) == 5


def test_a_lost_reply_is_our_own_success(store: ObjectStore, clock: ManualClock) -> None:
    """A retrying store over one that loses its first reply saves as usual."""
    faulty = FaultyStore(store, [lost_reply(verb="put", key="*manifest-*")])
    CheckpointStore(RetryingStore(faulty, clock=clock), "q").save(manifest(1))
    assert CheckpointStore(store, "q").load_latest() == manifest(1)


def test_a_save_after_an_unknown_outcome_finishes_it(store: ObjectStore) -> None:
    """Manifest durable, reply lost, pointer untouched: the same save again is all it takes."""
    faulty = FaultyStore(store, [lost_reply(verb="put", key="*manifest-*")])
    checkpoints = CheckpointStore(faulty, "q")
    with pytest.raises(UnavailableError):
        checkpoints.save(manifest(1))
    checkpoints.save(manifest(1))
    assert pointer(store) == 1


def test_a_failed_manifest_leaves_the_pointer(store: ObjectStore) -> None:
    """The pointer never names a checkpoint that was not written."""
    CheckpointStore(store, "q").save(manifest(1))
    broken = Fault(error=UnavailableError("down"), verb="put", key="*manifest-000002*")
    with pytest.raises(UnavailableError):
        CheckpointStore(FaultyStore(store, [broken]), "q").save(manifest(2))
    assert pointer(store) == 1


def test_a_number_of_the_flat_layout_is_taken(
    checkpoints: CheckpointStore, store: ObjectStore
) -> None:
    """A new manifest never shadows an old one of the same id."""
    put_flat(store, 5)
    with pytest.raises(AlreadyExistsError, match="flat layout"):
        checkpoints.save(manifest(5, epoch=9))
    with pytest.raises(AlreadyExistsError, match="flat layout"):
        checkpoints.save_state_data(5, b"state")


def test_what_cannot_be_read_back_is_not_saved(
    checkpoints: CheckpointStore, store: ObjectStore
) -> None:
    """A manifest with a negative number is refused before anything is written."""
    with pytest.raises(ConfigError):
        checkpoints.save(manifest(1, epoch=-1))
    assert contents(store) == {}


@pytest.mark.parametrize("prefix", ["/", "/x", "a//b", "a/../b", "x" * 1100])
def test_a_prefix_that_no_store_can_hold_is_refused(store: ObjectStore, prefix: str) -> None:
    """At construction, not at the first write."""
    with pytest.raises(ConfigError):
        CheckpointStore(store, prefix)


def test_prefixes_keep_apart(store: ObjectStore) -> None:
    """Two checkpoint stores on one object store do not see each other."""
    one, other = CheckpointStore(store, "a"), CheckpointStore(store, "a/b")
    one.save(manifest(1))
    other.save(manifest(1, epoch=2))
    assert (one.list(), other.list()) == ([(1, 1)], [(1, 2)])


def test_the_largest_id_is_an_id(checkpoints: CheckpointStore) -> None:
    """2^64-1 is saved, listed and loaded."""
    checkpoints.save(manifest(2**64 - 1))
    assert checkpoints.list_ids() == [2**64 - 1]
    assert checkpoints.load_latest() == manifest(2**64 - 1)
