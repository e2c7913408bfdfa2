"""The documents on the store: pruned, counted, priced, and never passed over when damaged."""

from __future__ import annotations

import pytest

from holdfast.errors import CorruptionError, FencedError, PermissionDeniedError
from holdfast.objectstore import MemoryStore, MeteredStore, Page
from holdfast.sessions import SourceCheckpoints, SourceState, StoreLedger
from holdfast.testing.faults import Fault, FaultyStore
from tests.sessions.support import commit, documents, error_of, on_store, sequences


def test_old_documents_are_pruned_and_the_newest_stays() -> None:
    """At most twice the retained number is ever there."""
    store = MemoryStore()
    checkpoints = on_store(store, retain=3)
    for sequence in range(1, 30):
        commit(checkpoints, a=sequence)
        assert len(documents(store)) <= 6
        assert documents(store)[-1].endswith(f"commit-{sequence:06}.json")


def test_a_failed_prune_is_no_failed_commit() -> None:
    """Old documents wait for a later commit, which takes them with it."""
    refused = Fault(error=PermissionDeniedError("no"), verb="delete")
    store = FaultyStore(MemoryStore(), [refused])
    checkpoints = on_store(store, retain=1)
    commit(checkpoints, a=1)
    commit(checkpoints, a=2)
    assert len(documents(store)) == 2
    commit(checkpoints, a=3)
    assert len(documents(store)) == 1


def test_numbers_grow_a_digit() -> None:
    """Newest is by number: commit-1000000 sorts before commit-999999."""
    store = MemoryStore()
    checkpoints = on_store(store, retain=2)
    commit(checkpoints, a=1)
    ledger = checkpoints._ledger
    assert isinstance(ledger, StoreLedger)
    ledger._number = 999_997
    for sequence in range(2, 8):
        commit(checkpoints, a=sequence)
    assert sequences(on_store(store)) == {"a": 7}


def test_a_commit_costs_one_put_and_one_list() -> None:
    """And one delete for as many commits as are retained."""
    store = MeteredStore(MemoryStore())
    checkpoints = on_store(store, retain=8)
    commit(checkpoints, a=1)
    before = store.meter.usage()
    for sequence in range(2, 82):
        commit(checkpoints, a=sequence)
    used = store.meter.usage() - before
    assert dict(used.requests) == {"put": 80, "list": 80, "delete": 9, "get": 0, "head": 0}


def _damage(store: MemoryStore) -> None:
    key = documents(store)[-1]
    store.put(key, store.get(key).body[:-1])


def test_an_unreadable_newest_document_is_an_error() -> None:
    """Never the one before it, and never a fresh start."""
    store = MemoryStore()
    writer = on_store(store)
    commit(writer, a=1)
    commit(writer, a=2)
    _damage(store)
    reader = on_store(store)
    for action in (reader.read_all_checkpoints, reader.read_config_hash, reader.begin):
        assert isinstance(error_of(action), CorruptionError)
    assert isinstance(error_of(lambda: reader.write_config_hash(1)), CorruptionError)
    assert len(documents(store)) == 2


def test_an_unreadable_newest_document_can_be_cleared() -> None:
    """Starting anew is possible, but only if it is asked for."""
    store = MemoryStore()
    commit(on_store(store), a=1)
    _damage(store)
    checkpoints = on_store(store)
    checkpoints.clear_checkpoints()
    commit(checkpoints, a=1)
    assert sequences(checkpoints) == {"a": 1}


def test_an_oversized_document_is_not_read() -> None:
    """The listing knows its size, so its bytes never get into memory."""
    store = FaultyStore(MemoryStore())
    store.put("query/sources/commit-000001.json", bytes(16 * 1024 * 1024 + 1))
    with pytest.raises(CorruptionError, match="too big"):
        on_store(store).read_all_checkpoints()
    assert "get" not in [verb for verb, _ in store.calls]


def test_a_document_pruned_while_read_is_read_anew() -> None:
    """A reader that is slower than the writer lists again."""
    store = MemoryStore()
    writer = on_store(store, retain=1)
    commit(writer, a=1)

    class Slow(FaultyStore):
        def list(self, prefix: str = "", *, start_after: str = "", limit: int = 9) -> Page:
            page = super().list(prefix, start_after=start_after, limit=limit)
            if len(self.calls) == 1:
                commit(writer, a=2)
            return page

    assert sequences(on_store(Slow(store))) == {"a": 2}


def test_foreign_keys_are_passed_over() -> None:
    """What somebody else put beside the documents is not taken for one."""
    store = MemoryStore()
    for name in ("commit-000000.json", "commit-12.json", "commit-000009.json.bak", "x/commit"):
        store.put(f"query/sources/{name}", b"?")
    commit(on_store(store), a=1)
    assert sequences(SourceCheckpoints(store, "query")) == {"a": 1}


def test_two_resets_of_an_unreadable_document_fence_each_other() -> None:
    """What the first one has begun since is not wiped by the second."""
    store = MemoryStore()
    commit(on_store(store), a=1)
    _damage(store)
    slow, quick = on_store(store), on_store(store)
    assert isinstance(error_of(slow.refresh), CorruptionError)
    quick.reset(SourceState(config_hash=5))
    commit(quick, a=1)
    with pytest.raises(FencedError):
        slow.reset(SourceState(config_hash=5))
    assert sequences(quick) == {"a": 1}


def test_a_long_run_remembers_no_settled_put() -> None:
    """What a writer keeps to know its own lost puts does not grow with its commits."""
    ledger = StoreLedger(MemoryStore())
    for number in range(20):
        ledger.write(SourceState(config_hash=number))
    assert ledger._unsettled == set()
