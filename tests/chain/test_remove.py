"""Removing a query fences whoever runs it, and never looks like a fresh start half way."""

from __future__ import annotations

import pytest

from holdfast.errors import FencedError, MisuseError
from holdfast.layout import Keys
from holdfast.objectstore import MemoryStore
from tests.chain.support import QUERY, chain, damage, keys_of, run

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


def test_a_broken_query_can_be_removed() -> None:
    """Nothing in it needs to be valid."""
    store = MemoryStore()
    run(chain(store).claim(), 2)
    for number in (1, 2, 3):
        damage(store, KEYS.manifest(number))
    store.put(KEYS.intent(4), b"garbled")
    chain(store).remove()
    assert chain(store, "new").claim().head.batch == -1
