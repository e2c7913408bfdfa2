"""The contract is worth something: a store that breaks it is caught."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from holdfast.errors import AlreadyExistsError, NotFoundError
from holdfast.objectstore import MemoryStore, ObjectStore, Page
from holdfast.testing import CONTRACT, CarelessStore

if TYPE_CHECKING:
    from holdfast.objectstore import Blob


class _Utf16Order(MemoryStore):
    def list(self, prefix: str = "", *, start_after: str = "", limit: int = 1000) -> Page:
        page = super().list(prefix, start_after=start_after, limit=limit)
        objects = sorted(page.objects, key=lambda meta: meta.key.encode("utf-16-be"))
        return Page(objects=tuple(objects), more=page.more)


class _NeverMore(MemoryStore):
    def list(self, prefix: str = "", *, start_after: str = "", limit: int = 1000) -> Page:
        page = super().list(prefix, start_after=start_after, limit=limit)
        return Page(objects=page.objects, more=False)


class _HalfRange(MemoryStore):
    def get(self, key: str, *, start: int = 0, length: int | None = None) -> Blob:
        if start and start >= self.head(key).size:
            raise NotFoundError("range", key=key)
        return super().get(key, start=start, length=length)


class _NeverDeletes(MemoryStore):
    def delete(self, keys: object) -> None:
        del keys


def _broken(store: type[ObjectStore]) -> set[str]:
    found = set()
    for claim in CONTRACT:
        try:
            claim(store())
        except (AssertionError, NotFoundError, AlreadyExistsError):
            found.add(claim.__name__)
    return found


class _Careless(CarelessStore):
    def __init__(self) -> None:
        super().__init__(MemoryStore())


@pytest.mark.parametrize(
    ("store", "claim"),
    [
        (_Careless, "a_create_takes_a_free_key_only"),
        (_Careless, "an_if_match_needs_an_object"),
        (_Careless, "one_of_many_creates_wins"),
        (_Utf16Order, "a_listing_is_in_byte_order"),
        (_NeverMore, "a_listing_comes_in_pages"),
        (_HalfRange, "a_range_past_the_end_is_empty"),
        (_NeverDeletes, "a_delete_is_idempotent"),
    ],
)
def test_a_store_that_breaks_a_rule_is_caught(store: type[ObjectStore], claim: str) -> None:
    """The claim that names the rule fails."""
    assert claim in _broken(store)
