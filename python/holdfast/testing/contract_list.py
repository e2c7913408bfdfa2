"""The contract of listings: order, pages, prefixes, and what they must not miss."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from holdfast.objectstore.base import scan
from holdfast.testing.contract_checks import equal

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.objectstore.base import ObjectStore

_ORDERED = (  # as UTF-8 bytes; as UTF-16 the last two would change places
    "a-b", "a.b", "a/b", "a/b c", "a0", "b/%41+&=?#'\"<>", "b/é",
    "c/日本", "c/\uff5e", "c/\U0001f600",
)  # fmt: skip


def a_listing_is_in_byte_order(store: ObjectStore) -> None:
    """Keys come as their UTF-8 bytes sort, whatever is in them."""
    for key in reversed(_ORDERED):
        store.put(key, key.encode())
    equal(tuple(meta.key for meta in store.list().objects), _ORDERED)
    for key in _ORDERED:
        equal(store.get(key).body, key.encode())


def a_listing_comes_in_pages(store: ObjectStore) -> None:
    """Page after page gives every key once; `more` is true on all but the last."""
    for key in _ORDERED:
        store.put(key, b"x")
    found: list[str] = []
    more = True
    while more:
        page = store.list(start_after=found[-1] if found else "", limit=3)
        found += [meta.key for meta in page.objects]
        more = page.more
        equal(more, len(found) < len(_ORDERED))
    equal(tuple(found), _ORDERED)


def a_listing_keeps_to_its_prefix(store: ObjectStore) -> None:
    """A prefix is text, not a directory, and may match nothing."""
    for key in _ORDERED:
        store.put(key, b"x")
    for prefix in ("a", "a/", "a/b", "a/b ", "a-", "b/%", "c/\U0001f600", "z", "a/b/", "../", "/"):
        expected = [key for key in _ORDERED if key.startswith(prefix)]
        equal([meta.key for meta in store.list(prefix).objects], expected)


def a_listing_starts_after_any_text(store: ObjectStore) -> None:
    """`start_after` need not be a key, nor begin with the prefix."""
    for key in _ORDERED:
        store.put(key, b"x")
    for after in ("", "a", "a-b", "a/b", "a/z", "b", "c/\uff5e", "zz"):
        for prefix in ("", "a", "a/", "b/", "c/"):
            expected = [key for key in _ORDERED if key.startswith(prefix) and key > after]
            page = store.list(prefix, start_after=after)
            equal([meta.key for meta in page.objects], expected)
            equal(page.more, False)  # noqa: FBT003 - the answer that is expected


def a_listing_sees_each_write_at_once(store: ObjectStore) -> None:
    """What was put or deleted before the call is listed so."""
    for number in range(12):
        store.put(f"n/{number:02}", b"x")
        equal(len(store.list("n/").objects), number + 1)
    for number in range(12):
        store.delete([f"n/{number:02}"])
        equal(len(store.list("n/").objects), 11 - number)


def a_listing_misses_no_bystander(store: ObjectStore) -> None:
    """Keys that stay are in every listing, whatever comes and goes beside them."""
    steady = [f"n/{number:02}/k" for number in range(0, 20, 2)]
    for key in steady:
        store.put(key, b"x")
    done = threading.Event()

    def disturb() -> None:
        number = 1
        while not done.is_set():
            key = f"n/{number % 20:02}/noise"
            store.put(key, b"y")
            store.delete([key])
            number += 1

    with ThreadPoolExecutor(1) as pool:
        disturbing = pool.submit(disturb)
        try:
            for _ in range(20):
                keys = [meta.key for meta in store.list("n/").objects]
                equal([key for key in keys if key.endswith("/k")], steady)
        finally:
            done.set()
        disturbing.result()


def a_scan_gives_everything(store: ObjectStore) -> None:
    """Page by page without the caller's help."""
    for number in range(7):
        store.put(f"n/{number}", b"x")
    equal(
        [meta.key for meta in scan(store, "n/", start_after="n/1")], [f"n/{n}" for n in range(2, 7)]
    )


LISTING: tuple[Callable[[ObjectStore], None], ...] = (
    a_listing_is_in_byte_order,
    a_listing_comes_in_pages,
    a_listing_keeps_to_its_prefix,
    a_listing_starts_after_any_text,
    a_listing_sees_each_write_at_once,
    a_listing_misses_no_bystander,
    a_scan_gives_everything,
)
