"""Finding queries in a listing, without reading all of it."""

from __future__ import annotations

from holdfast.cli.discover import roots
from holdfast.layout import Keys
from holdfast.objectstore import MemoryStore, Meter, MeteredStore


def crowded(names: tuple[str, ...], count: int) -> MemoryStore:
    store = MemoryStore()
    for name in names:
        keys = Keys.of_query(name)
        for number in range(1, count + 1):
            store.put(keys.state(number), b"")
            store.put(keys.intent(number), b"")
        store.put(keys.manifest(count), b"")
    return store


def test_queries_are_found_wherever_they_are_nested() -> None:
    """Also one below another, and one whose name begins as another's."""
    names = ("a", "a/b", "a-b", "deep/er/c")
    assert sorted(roots(crowded(names, 1))) == ["a-b/", "a/", "a/b/", "deep/er/c/"]


def test_what_is_not_ours_is_no_query() -> None:
    """A bucket may hold anything."""
    store = crowded(("a",), 1)
    for key in ("readme.txt", "logs/2026/manifests/x.json", ".holdfast/certificate.json"):
        store.put(key, b"")
    assert roots(store) == ["a/"]


def test_the_rest_of_a_folder_is_jumped_over() -> None:
    """10,000 objects of two queries, found in a few pages."""
    store = crowded(("a", "b"), 2500)
    meter = Meter()
    assert roots(MeteredStore(store, meter)) == ["a/", "b/"]
    assert meter.usage().requests["list"] <= 6


def test_strangers_between_queries_are_walked_through() -> None:
    """A page that ends in one goes on right after it."""
    store = crowded(("a", "z"), 1)
    for number in range(2500):
        store.put(f"m/{number:06}", b"")
    assert roots(store) == ["a/", "z/"]


def test_a_prefix_limits_the_search() -> None:
    """What is elsewhere is not listed."""
    assert roots(crowded(("a/b", "c"), 1), "a/") == ["a/b/"]
