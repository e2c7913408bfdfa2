"""Removing a query fences whoever runs it, and never looks like a fresh start half way."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest

from holdfast.errors import FencedError, MisuseError
from holdfast.layout import Keys
from holdfast.objectstore import MemoryStore
from holdfast.testing import DyingStore, StoreDied
from tests.chain.support import QUERY, Meddling, chain, damage, keys_of, run

if TYPE_CHECKING:
    from holdfast.chain import Chain

KEYS = Keys.of_query(QUERY)


def test_a_removed_query_is_empty_and_can_begin_again() -> None:
    """Two small objects stay; the next start is at batch 0."""
    store = MemoryStore()
    run(chain(store, inline_bytes_max=0).claim(), 5)
    chain(store).remove()
    assert len(keys_of(store)) == 2
    head = chain(store, "new").claim().head
    assert (head.batch, head.files) == (-1, {})


def test_a_driver_of_a_removed_query_is_fenced() -> None:
    """What it would go on with is gone."""
    store = MemoryStore()
    writer = chain(store).claim()
    run(writer, 5)
    chain(store, "operator").remove()
    with pytest.raises(FencedError, match="host-operator"):
        run(writer)


def test_purge_leaves_nothing() -> None:
    """For a query that no driver can be running."""
    store = MemoryStore()
    run(chain(store).claim(), 5)
    chain(store).remove(purge=True)
    assert keys_of(store) == []


def test_a_query_with_clones_is_not_removed() -> None:
    """They name its objects."""
    store = MemoryStore()
    run(chain(store, inline_bytes_max=0).claim(), 2)
    chain(store).clone(3, "copy")
    with pytest.raises(MisuseError, match="remove the clones first"):
        chain(store).remove()


def test_removing_the_clone_releases_the_original() -> None:
    """Its ref goes with it."""
    store = MemoryStore()
    run(chain(store, inline_bytes_max=0).claim(), 2)
    chain(store).clone(3, "copy").remove()
    assert keys_of(store, KEYS.refs) == []


def test_a_clone_that_is_made_meanwhile_stops_the_removal() -> None:
    """It is made in time or not at all; either way its objects are there."""
    store = MemoryStore()
    run(chain(store, inline_bytes_max=0).claim(), 2)
    copies: list[Chain] = []

    def clone_once() -> None:
        if not copies:
            copies.append(chain(store, "cloner", inline_bytes_max=0).clone(3, "copy"))

    with pytest.raises(MisuseError, match="remove the clones first"):
        chain(Meddling(store, "/intents/", before=clone_once), "operator").remove()
    head = copies[0].recover(deep=True).head
    assert copies[0].read(head)
    copies[0].remove()
    chain(store).remove()
    assert keys_of(store, KEYS.checkpoints) == []


@pytest.mark.parametrize("last_takes_effect", [False, True], ids=["before", "after"])
def test_a_clones_removal_that_was_cut_short_is_finished_by_a_second_one(
    last_takes_effect: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    """Wherever it was: the original is released, and can be removed itself."""
    for calls in itertools.count():
        store = MemoryStore()
        run(chain(store, inline_bytes_max=0).claim(), 2)
        chain(store, inline_bytes_max=0).clone(3, "copy")
        dying = DyingStore(store, after=calls, last_takes_effect=last_takes_effect)
        try:
            chain(dying, query="copy").remove()
        except StoreDied:
            chain(store, query="copy").remove()
        else:
            break
        chain(store).remove()
        assert keys_of(store, KEYS.checkpoints) == []


def test_a_clone_that_names_nothing_of_the_original_any_more_releases_it() -> None:
    """Also where the retention that should have done it was cut short: the tombstone tells."""
    store = MemoryStore()
    run(chain(store, inline_bytes_max=0).claim(), 2)
    copy = chain(store, inline_bytes_max=0).clone(3, "copy").claim()
    ref = store.get(KEYS.clone("copy")).body
    copy.commit(2, [], removed=list(copy.head.files))
    run(copy, 20)
    copy.retain()
    store.put(KEYS.clone("copy"), ref)
    chain(store, query="copy").remove()
    assert keys_of(store, KEYS.refs) == []


def test_a_broken_query_can_be_removed() -> None:
    """Nothing in it needs to be valid."""
    store = MemoryStore()
    run(chain(store).claim(), 2)
    for number in (1, 2, 3):
        damage(store, KEYS.manifest(number))
    store.put(KEYS.intent(4), b"garbled")
    chain(store).remove()
    assert chain(store, "new").claim().head.batch == -1
