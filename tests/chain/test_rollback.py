"""Rollbacks append; they fence, begin a lineage, adopt nothing, and are never undone silently."""

from __future__ import annotations

import pytest

from holdfast.errors import (
    AlreadyExistsError,
    CommitUnknownError,
    CorruptionError,
    FencedError,
    NotFoundError,
)
from holdfast.layout import Keys
from holdfast.manifest.record import Kind
from holdfast.objectstore import MemoryStore
from tests.chain.support import QUERY, Meddling, chain, damage, keys_of, plan, run

KEYS = Keys.of_query(QUERY)


def test_rollback_shows_the_old_files_and_keeps_history() -> None:
    """A full manifest at the end with the old files; every older checkpoint is still there."""
    store = MemoryStore()
    run(chain(store).claim(), 3)
    old = chain(store).recover().head.files
    run(chain(store).claim(), 2)
    done = chain(store).rollback(4)
    head = chain(store).recover().head
    assert (done.target, done.batch, head.kind) == (4, 2, Kind.ROLLBACK)
    assert (head.lineage.number, head.lineage.parent, head.lineage.batch) == (done.number, 0, 2)
    assert {p: f.size for p, f in head.files.items()} == {p: f.size for p, f in old.items()}
    assert len(chain(store).history()) == done.number


def test_rollback_fences_a_running_driver() -> None:
    """It claims first."""
    store = MemoryStore()
    writer = chain(store, "old").claim()
    run(writer, 2)
    chain(store, "operator").rollback(2)
    with pytest.raises(FencedError, match="host-operator"):
        run(writer)


def test_rollback_adopts_no_plan() -> None:
    """What was planned after the checkpoint is undone with the rest."""
    store = MemoryStore()
    writer = chain(store, "old").claim()
    run(writer, 2)
    writer.intent(2, plan(2))
    chain(store).rollback(2)
    restarted = chain(store, "new").claim()
    assert (restarted.head.batch, restarted.head.plans) == (0, {})


def test_rollback_leaves_no_ref_behind() -> None:
    """It holds its target only while it works."""
    store = MemoryStore()
    run(chain(store).claim(), 2)
    chain(store).rollback(2)
    assert keys_of(store, KEYS.refs) == []


def test_an_unreadable_rollback_stops_recovery() -> None:
    """Walking back over it would bring the undone batches to life again."""
    store = MemoryStore()
    run(chain(store).claim(), 3)
    done = chain(store).rollback(2)
    damage(store, KEYS.manifest(done.number))
    with pytest.raises(CorruptionError, match="would undo it"):
        chain(store).claim()


def test_a_second_rollback_repairs_an_unreadable_one() -> None:
    """The way out that the error names."""
    store = MemoryStore()
    run(chain(store).claim(), 3)
    done = chain(store).rollback(2)
    damage(store, KEYS.manifest(done.number))
    again = chain(store).rollback(2)
    assert (again.repaired, chain(store, "new").claim().head.batch) == (True, 0)


def test_rollback_gets_past_an_intent_that_cannot_be_read() -> None:
    """It adopts no plan, so it need not read one; a start would have to stop there."""
    store = MemoryStore()
    writer = chain(store).claim()
    run(writer, 3)
    writer.intent(3, plan(3))
    damage(store, KEYS.intent(5))
    done = chain(store).rollback(3)
    restarted = chain(store, "new").claim()
    assert (done.repaired, restarted.head.batch, restarted.head.plans) == (True, 1, {})


def test_rollback_to_what_is_not_valid_changes_nothing() -> None:
    """Checked before anything is written."""
    store = MemoryStore()
    run(chain(store).claim(), 3)
    damage(store, KEYS.manifest(2))
    before = keys_of(store)
    with pytest.raises(CorruptionError):
        chain(store).rollback(2)
    assert keys_of(store) == before


def test_rollback_to_a_tag_works_when_its_checkpoint_is_retired() -> None:
    """A tag is complete in itself."""
    store = MemoryStore()
    writer = chain(store, inline_bytes_max=0).claim()
    run(writer, 2)
    chain(store).tag("before", 3)
    expected = chain(store).read(chain(store).recover().head)
    run(writer, 20)
    writer.retain()
    done = chain(store, inline_bytes_max=0).rollback("before")
    head = chain(store).recover(deep=True).head
    assert (done.target, head.batch) == (3, 1)
    assert chain(store).read(head) == expected


def test_rollback_to_an_unknown_tag_says_where_to_look() -> None:
    """The hint is the command."""
    with pytest.raises(NotFoundError, match="holdfast ls"):
        chain(MemoryStore()).rollback("nope")


def test_a_rollback_that_is_overtaken_is_reported_as_unknown() -> None:
    """It is never repeated by itself."""
    store = MemoryStore()
    run(chain(store).claim(), 2)

    overtaken = Meddling(store, "manifest-000005", after=lambda: chain(store, "other").claim())
    with pytest.raises(CommitUnknownError, match="another writer is ahead"):
        chain(overtaken).rollback(2)


def test_reset_begins_anew_and_keeps_the_old_state_under_a_tag() -> None:
    """Batches count from 0 again; nothing is lost."""
    store = MemoryStore()
    run(chain(store).claim(), 3)
    chain(store).reset("old")
    head = chain(store, "new").claim().head
    assert (head.batch, head.files) == (-1, {})
    chain(store).rollback("old")
    assert chain(store, "newer").claim().head.batch == 2


def test_reset_refuses_a_tag_that_is_taken() -> None:
    """The old state would not be protected by it."""
    store = MemoryStore()
    run(chain(store).claim(), 3)
    chain(store).tag("old", 2)
    with pytest.raises(AlreadyExistsError):
        chain(store).reset("old")
