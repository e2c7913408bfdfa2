"""What a dry run gets: a store that cannot be changed."""

from __future__ import annotations

import pytest

from holdfast.cli.readonly import ReadOnlyStore
from holdfast.errors import MisuseError, UnsupportedError
from holdfast.objectstore import MemoryStore, PutMode, scan


def test_a_put_is_refused_and_a_delete_is_only_noted() -> None:
    """Whatever a command's code tries."""
    inner = MemoryStore()
    inner.put("a", b"1")
    store = ReadOnlyStore(inner)
    with pytest.raises(MisuseError):
        store.put("b", b"2", mode=PutMode.CREATE)
    store.delete(["a"])
    assert store.would_delete == ["a"]
    assert [meta.key for meta in scan(inner)] == ["a"]


def test_reads_pass() -> None:
    """All of them."""
    inner = MemoryStore()
    meta = inner.put("a", b"123")
    store = ReadOnlyStore(inner)
    assert (store.get("a", start=1, length=1).body, store.head("a")) == (b"2", meta)
    assert ([found.key for found in store.list("a").objects], store.url) == (["a"], "memory:")
    with pytest.raises(UnsupportedError):
        store.presign("GET", "a")
