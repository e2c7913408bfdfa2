"""The hint moves only forward, and nothing depends on it."""

from __future__ import annotations

from holdfast.layout import Keys
from holdfast.objectstore import MemoryStore, Meter, MeteredStore
from tests.chain.support import QUERY, chain, run

LATEST = Keys.of_query(QUERY).latest


def test_hint_names_the_last_checkpoint_in_the_seeds_words() -> None:
    """The seed's own reader takes it."""
    store = MemoryStore()
    writer = chain(store).claim()
    run(writer, 2)
    writer.write_hint()
    assert store.get(LATEST).body == b'{"checkpoint_id":3}'


def test_a_sleeping_driver_does_not_move_the_hint_back() -> None:
    """It finds a higher number there and leaves it."""
    store = MemoryStore()
    older = chain(store, "old").claim()
    older.write_hint()
    newer = chain(store, "new").claim()
    run(newer, 3)
    newer.write_hint()
    older.write_hint()
    assert store.get(LATEST).body == b'{"checkpoint_id":5}'


def test_a_hint_costs_one_request_while_no_one_else_writes_it() -> None:
    """It is compared with what this driver wrote last."""
    meter = Meter()
    writer = chain(MeteredStore(MemoryStore(), meter)).claim()
    writer.write_hint()
    run(writer)
    before = meter.usage()
    writer.write_hint()
    assert (meter.usage() - before).total == 1


def test_a_garbled_hint_is_replaced() -> None:
    """It is only a hint."""
    store = MemoryStore()
    writer = chain(store).claim()
    store.put(LATEST, b"\xff")
    writer.write_hint()
    assert store.get(LATEST).body == b'{"checkpoint_id":1}'
