"""The contract of an object store, in code: every backend passes every claim in `CONTRACT`.

    @pytest.mark.parametrize("claim", CONTRACT, ids=lambda claim: claim.__name__)
    def test_contract(store, claim):
        claim(store)

Each claim wants a store of its own, or a fresh prefix of one. It raises `AssertionError` where
the store breaks its word. No claim makes one key the directory of another ("a" and "a/b"): local
directories cannot hold such keys, and some S3 servers do not list them.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from holdfast.errors import (
    AlreadyExistsError,
    ConfigError,
    NotFoundError,
    PreconditionError,
    UnsupportedError,
)
from holdfast.objectstore.base import ObjectStore, PutMode
from holdfast.settings import MIB
from holdfast.testing import contract_presign
from holdfast.testing.contract_checks import equal, refused, require
from holdfast.testing.contract_list import LISTING
from holdfast.testing.contract_race import RIVALRY

if TYPE_CHECKING:
    from collections.abc import Callable


def a_put_is_read_back_whole(store: ObjectStore) -> None:
    """What was put is what is got, with one and the same metadata from every verb."""
    put = store.put("a/b", b"hello")
    blob = store.get("a/b")
    equal(blob.body, b"hello")
    equal(put.size, 5)
    for meta in (blob.meta, store.head("a/b"), store.list("a/").objects[0]):
        equal(meta, put)


def any_body_type_is_stored(store: ObjectStore) -> None:
    """Bytes, a bytearray and a memoryview are all bodies."""
    for body in (b"abc", bytearray(b"abc"), memoryview(b"xabcx")[1:4]):
        equal(store.put("a", body).size, 3)
        equal(store.get("a").body, b"abc")


def an_empty_body_is_an_object(store: ObjectStore) -> None:
    """Nothing at all can be stored, found and read in parts."""
    store.put("empty", b"", mode=PutMode.CREATE)
    equal(store.get("empty").body, b"")
    equal(store.get("empty", start=0, length=9).body, b"")
    equal(store.head("empty").size, 0)
    refused(AlreadyExistsError, lambda: store.put("empty", b"x", mode=PutMode.CREATE))


def a_large_body_is_stored(store: ObjectStore) -> None:
    """Some MiB come back byte for byte, whole and in parts."""
    body = bytes(range(256)) * (5 * MIB // 256) + b"end"
    store.put("large", body)
    require(store.get("large").body == body, "a large body changed on its way")
    equal(store.get("large", start=5 * MIB).body, b"end")


def a_create_takes_a_free_key_only(store: ObjectStore) -> None:
    """A create on a taken key is refused and changes nothing."""
    store.put("a", b"first", mode=PutMode.CREATE)
    refused(AlreadyExistsError, lambda: store.put("a", b"second", mode=PutMode.CREATE))
    equal(store.get("a").body, b"first")


def a_create_works_after_a_delete(store: ObjectStore) -> None:
    """A deleted key is free."""
    store.put("a", b"first", mode=PutMode.CREATE)
    store.delete(["a"])
    store.put("a", b"second", mode=PutMode.CREATE)
    equal(store.get("a").body, b"second")


def an_overwrite_replaces_all(store: ObjectStore) -> None:
    """The newer body is all that is left, and it has another etag."""
    first = store.put("a", b"a longer body")
    second = store.put("a", b"short")
    equal(store.get("a").body, b"short")
    require(first.etag != second.etag, "two versions have one etag")


def an_if_match_needs_the_very_version(store: ObjectStore) -> None:
    """The current etag is accepted once; from then on it is stale."""
    first = store.put("a", b"1")
    second = store.put("a", b"2", mode=PutMode.if_match(first.etag))
    refused(PreconditionError, lambda: store.put("a", b"3", mode=PutMode.if_match(first.etag)))
    equal(store.get("a").body, b"2")
    for found in (store.head("a"), store.get("a").meta, store.list().objects[0]):
        equal(found.etag, second.etag)


def an_if_match_needs_an_object(store: ObjectStore) -> None:
    """On an absent key it is refused, and creates nothing."""
    etag = store.put("a", b"1").etag
    store.delete(["a"])
    refused(PreconditionError, lambda: store.put("a", b"2", mode=PutMode.if_match(etag)))
    refused(NotFoundError, lambda: store.head("a"))


def an_absent_key_is_not_found(store: ObjectStore) -> None:
    """Reading what is not there says so, also next to what is there."""
    store.put("a/b", b"x")
    for key in ("c", "a", "a/b/c", "a/bb"):
        refused(NotFoundError, partial(store.get, key))
        refused(NotFoundError, partial(store.get, key, start=1, length=1))
        refused(NotFoundError, partial(store.head, key))


def a_range_is_a_slice(store: ObjectStore) -> None:
    """`start` and `length` cut as Python does; the metadata is the whole object's."""
    store.put("a", b"0123456789")
    cuts: tuple[tuple[int, int | None, bytes], ...] = (
        (0, 4, b"0123"), (3, 4, b"3456"), (7, None, b"789"), (9, 1, b"9"), (0, 10, b"0123456789"),
        (8, 100, b"89"), (0, 0, b""), (4, 0, b""),
    )  # fmt: skip
    for start, length, expected in cuts:
        blob = store.get("a", start=start, length=length)
        equal(blob.body, expected)
        equal(blob.meta, store.head("a"))


def a_range_past_the_end_is_empty(store: ObjectStore) -> None:
    """A start at or past the end is no error."""
    store.put("a", b"0123456789")
    for start, length in ((10, None), (10, 1), (11, None), (5000, 7)):
        blob = store.get("a", start=start, length=length)
        equal(blob.body, b"")
        equal(blob.meta.size, 10)


def a_delete_takes_many(store: ObjectStore) -> None:
    """More keys than fit one request; all others stay."""
    store.put("stays", b"x")
    keys = [f"n/{number:04}" for number in range(30)]
    for key in keys:
        store.put(key, b"x")
    store.delete(iter([*keys, *(f"absent/{number:04}" for number in range(1000))]))
    equal([meta.key for meta in store.list().objects], ["stays"])


def a_delete_is_idempotent(store: ObjectStore) -> None:
    """An absent key counts as deleted, and no keys are none."""
    store.put("a/b", b"x")
    for _ in range(2):
        store.delete(["a/b", "never/there"])
        refused(NotFoundError, lambda: store.get("a/b"))
    store.delete([])


def a_wrong_key_is_refused(store: ObjectStore) -> None:
    """No backend takes a key that another could not hold."""
    wrong = ("", "/a", "a/", "a//b", ".", "a/../b", "a/.", "a\nb", "a\0b", "k" * 1025, "é" * 513)
    for key in wrong:
        refused(ConfigError, partial(store.put, key, b"x"))
    equal(store.list().objects, ())


def presigning_works_or_says_no(store: ObjectStore) -> None:
    """A presigned request does what it was signed for; a backend without it says so."""
    if store.can_presign:
        contract_presign.check(store)
    else:
        refused(UnsupportedError, lambda: store.presign("GET", "a"))
        refused(UnsupportedError, lambda: store.presign("PUT", "a"))


CONTRACT: tuple[Callable[[ObjectStore], None], ...] = (
    a_put_is_read_back_whole,
    any_body_type_is_stored,
    an_empty_body_is_an_object,
    a_large_body_is_stored,
    a_create_takes_a_free_key_only,
    a_create_works_after_a_delete,
    an_overwrite_replaces_all,
    an_if_match_needs_the_very_version,
    an_if_match_needs_an_object,
    an_absent_key_is_not_found,
    a_range_is_a_slice,
    a_range_past_the_end_is_empty,
    a_delete_takes_many,
    a_delete_is_idempotent,
    a_wrong_key_is_refused,
    presigning_works_or_says_no,
    *LISTING,
    *RIVALRY,
)
