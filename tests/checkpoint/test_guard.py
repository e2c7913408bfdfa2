"""A chain's prefix is read like any other, and never written to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from holdfast.checkpoint import CheckpointBatcher, CheckpointStore
from holdfast.errors import MisuseError
from holdfast.testing import FaultyStore
from tests.chain.support import chain as real_chain
from tests.chain.support import run
from tests.checkpoint.support import KEYS, contents, manifest, put_chain

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.objectstore import ObjectStore

WRITES: dict[str, Callable[[CheckpointStore], object]] = {
    "save": lambda checkpoints: checkpoints.save(manifest(9)),
    "save_with_state": lambda checkpoints: checkpoints.save_with_state(manifest(9), b"x"),
    "save_state_data": lambda checkpoints: checkpoints.save_state_data(9, b"x"),
    "update_manifest": lambda checkpoints: checkpoints.update_manifest(manifest(1)),
    "prune": lambda checkpoints: checkpoints.prune(0),
    "cleanup_orphans": lambda checkpoints: checkpoints.cleanup_orphans(grace_s=0),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES.keys())
@pytest.mark.parametrize("sign", ["intent", "manifest"])
def test_every_write_is_refused(
    checkpoints: CheckpointStore,
    store: ObjectStore,
    sign: str,
    write: Callable[[CheckpointStore], object],
) -> None:
    """An intent, or a newest manifest with a chain's own field, is sign enough."""
    if sign == "intent":
        store.put(KEYS.intent(1), b"{}")
        store.put(KEYS.manifest(1), manifest(1).encode())
    else:
        store.put(KEYS.manifest(1), manifest(1).encode())
        put_chain(store, 2)
    before = contents(store)
    with pytest.raises(MisuseError, match="prefix of its own"):
        write(checkpoints)
    assert contents(store) == before


def test_a_chain_is_read(checkpoints: CheckpointStore, store: ObjectStore) -> None:
    """Its manifests are manifests: listed, loaded, validated and recovered."""
    store.put(KEYS.intent(1), b"{}")
    put_chain(store, 1)
    put_chain(store, 2)
    latest = checkpoints.load_latest()
    assert latest is not None
    assert latest.checkpoint_id == 2
    assert checkpoints.list() == [(1, 1), (2, 2)]
    assert checkpoints.recover_latest_validated().chosen_id == 2


def test_a_real_chain_is_read_and_refused(store: ObjectStore) -> None:
    """Not only what looks like one: claimed, committed to, and after retention."""
    orders = real_chain(store)
    run(orders.claim(), 9)
    orders.retain(3)
    before = contents(store)
    checkpoints = CheckpointStore(store, "orders")
    assert checkpoints.recover_latest_validated().chosen_id == 10
    with pytest.raises(MisuseError):
        checkpoints.save(manifest(11))
    assert contents(store) == before


def test_a_stranger_among_the_intents_is_no_chain(
    checkpoints: CheckpointStore, store: ObjectStore
) -> None:
    """Only an intent is an intent."""
    store.put("q/intents/readme.txt", b"")
    checkpoints.save(manifest(1))
    assert checkpoints.list_ids() == [1]


def test_a_chain_under_another_prefix_does_not_matter(store: ObjectStore) -> None:
    """One object store holds both."""
    store.put(KEYS.intent(1), b"{}")
    put_chain(store, 1)
    CheckpointStore(store, "other").save(manifest(1))
    assert CheckpointStore(store, "other").list_ids() == [1]


def test_a_damaged_newest_manifest_is_no_chain(
    checkpoints: CheckpointStore, store: ObjectStore
) -> None:
    """A plain store with a damaged manifest can still be written to."""
    store.put(KEYS.manifest(1), b"{")
    checkpoints.save(manifest(2))
    assert checkpoints.recover_latest_validated().chosen_id == 2


def test_it_looks_once(store: ObjectStore) -> None:
    """The second save pays nothing for the check: its reads are those of the two pointers."""
    counting = FaultyStore(store)
    checkpoints = CheckpointStore(counting, "q")
    checkpoints.save(manifest(1))
    calls = len(counting.calls)
    checkpoints.save(manifest(2))
    assert [verb for verb, _ in counting.calls[calls:]] == ["put", "get", "get", "put"]


def test_a_batcher_may_write_beside_a_chain(store: ObjectStore) -> None:
    """Its objects have a place of their own in the layout."""
    put_chain(store, 1)
    batcher = CheckpointBatcher(store, "q")
    batcher.add("k", b"v")
    assert batcher.flush(1) == KEYS.batch(1)
