"""The queries of a store, found in its listing.

There are no folders to ask for, so the listing is read page by page, and where a page ends inside
one of a query's folders, the rest of that folder is jumped over.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.layout import Keys
from holdfast.settings import CERTIFICATE_KEY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.objectstore import ObjectStore

_AFTER_SLASH = chr(ord("/") + 1)


@dataclass(frozen=True, slots=True)
class Survey:
    """Prefixes under which there are keys of ours, and those of other stores inside this one."""

    roots: list[str]
    stores: list[str]


def survey(store: ObjectStore, prefix: str = "") -> Survey:
    """What a listing shows, in order; some roots may hold no checkpoint."""
    roots: dict[str, None] = {}
    stores: list[str] = []
    start_after = ""
    while True:
        page = store.list(prefix, start_after=start_after)
        root: str | None = None
        for meta in page.objects:
            if meta.key.endswith(f"/{CERTIFICATE_KEY}"):
                stores.append(meta.key.removesuffix(CERTIFICATE_KEY))
            root = _root_of(meta.key, root)
            if root is not None:
                roots[root] = None
        if not page.more or not page.objects:
            others = tuple(stores)
            return Survey([root for root in roots if not root.startswith(others)], stores)
        last = page.objects[-1].key
        start_after = last if root is None else _after_folder(last, root)


def roots(store: ObjectStore, prefix: str = "") -> list[str]:
    """Prefixes under which there are keys of ours, but for those of other stores."""
    return survey(store, prefix).roots


def _root_of(key: str, guess: str | None) -> str | None:
    """The shortest prefix under which this is a key of ours; keys come together, so guess first."""
    if guess is not None and Keys(guess).parse(key) is not None:
        return guess
    return next((root for root in _prefixes(key) if Keys(root).parse(key) is not None), None)


def _prefixes(key: str) -> Iterator[str]:
    place = -1
    yield ""
    while (place := key.find("/", place + 1)) >= 0:
        yield key[: place + 1]


def _after_folder(key: str, root: str) -> str:
    """A `start_after` behind the folder of the root that this key is in."""
    folder = key[len(root) :].partition("/")[0]
    return f"{root}{folder}{_AFTER_SLASH}"
