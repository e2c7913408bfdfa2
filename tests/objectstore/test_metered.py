"""Requests and bytes are counted by verb, from any thread, and have a price."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from holdfast.errors import NotFoundError
from holdfast.objectstore import MemoryStore, Meter, MeteredStore, PriceTable, PutMode


def test_each_verb_is_counted_with_its_bytes() -> None:
    """One of each, and the bytes of bodies alone."""
    store = MeteredStore(MemoryStore())
    store.put("a", b"12345")
    store.get("a", start=1, length=2)
    store.head("a")
    store.list()
    store.delete(["a"])
    usage = store.meter.usage()
    assert usage.requests == {"put": 1, "get": 1, "head": 1, "list": 1, "delete": 1}
    assert (usage.bytes_sent, usage.bytes_received, usage.total) == (5, 2, 5)


def test_a_failed_request_counts() -> None:
    """The store bills a 404 and a refused put too."""
    store = MeteredStore(MemoryStore())
    store.put("a", b"x")
    with pytest.raises(FileExistsError):
        store.put("a", b"y", mode=PutMode.CREATE)
    with pytest.raises(NotFoundError):
        store.get("b")
    assert store.meter.usage().total == 3


def test_a_delete_counts_by_the_thousand() -> None:
    """2,001 keys are three requests, and none are none."""
    store = MeteredStore(MemoryStore())
    store.delete(f"k{number}" for number in range(2001))
    store.delete([])
    assert store.meter.usage().requests["delete"] == 3


def test_threads_lose_no_count() -> None:
    """A meter may be shared by stores and threads."""
    meter = Meter()

    def add_many(_: int) -> None:
        for _ in range(500):
            meter.add("put", sent=1)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add_many, range(8)))
    assert (meter.usage().total, meter.usage().bytes_sent) == (4000, 4000)


def test_usages_subtract_and_have_a_price() -> None:
    """What one batch cost is the difference of two cuts."""
    meter = Meter()
    meter.add("put", count=5)
    before = meter.usage()
    meter.add("put", count=1000)
    meter.add("get", count=500)
    spent = meter.usage() - before
    table = PriceTable(
        name="t", as_of="now", per_thousand={"put": 5, "get": 1, "head": 0, "list": 0, "delete": 0}
    )
    assert spent.requests["put"] == 1000
    assert spent.price(table) == pytest.approx(5.5)
