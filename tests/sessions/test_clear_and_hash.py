"""Clearing, the stored hash, resuming and removing: what stands apart from sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from holdfast.errors import ConfigError, MisuseError
from holdfast.objectstore import LocalStore, MemoryStore
from holdfast.sessions import SourceCheckpoints, SourceState, StoreLedger, remove
from tests.sessions.support import commit, documents, on_store, sequences, state

if TYPE_CHECKING:
    from pathlib import Path


def test_clear_deletes_checkpoints_and_hash(checkpoints: SourceCheckpoints) -> None:
    """Afterwards all is as if nothing had been there."""
    commit(checkpoints, a=1, b=2)
    checkpoints.write_config_hash(5, {"plan": "count"})
    checkpoints.clear_checkpoints()
    assert checkpoints.read_all_checkpoints() == {}
    assert (checkpoints.read_config_hash(), checkpoints.read_config()) == (None, None)


def test_clear_drops_what_is_staged(checkpoints: SourceCheckpoints) -> None:
    """A session that is open over a clear brings nothing back from before it."""
    commit(checkpoints, a=1)
    checkpoints.begin()
    checkpoints.stage_checkpoint("a", 2)
    checkpoints.clear_checkpoints()
    checkpoints.stage_checkpoint("b", 1)
    checkpoints.commit()
    assert sequences(checkpoints) == {"b": 1}


def test_clear_stands_apart_from_the_session(checkpoints: SourceCheckpoints) -> None:
    """A later rollback does not undo it."""
    commit(checkpoints, a=1)
    checkpoints.begin()
    checkpoints.clear_checkpoints()
    checkpoints.rollback()
    assert sequences(checkpoints) == {}


def test_a_cleared_source_may_count_anew(checkpoints: SourceCheckpoints) -> None:
    """The guard against sequences that go back forgets with the checkpoint."""
    commit(checkpoints, a=9)
    checkpoints.clear_checkpoints()
    commit(checkpoints, a=1)
    assert sequences(checkpoints) == {"a": 1}


def test_clear_leaves_one_empty_document() -> None:
    """Old positions are off the store; the number stays taken for a driver that still runs."""
    store = MemoryStore()
    checkpoints = on_store(store)
    for sequence in range(1, 4):
        commit(checkpoints, a=sequence)
    checkpoints.clear_checkpoints()
    assert documents(store) == ["query/sources/commit-000004.json"]
    assert state(store) == SourceState()


def test_hash_is_written_apart_from_the_session(checkpoints: SourceCheckpoints) -> None:
    """It is there at once, and neither undone by a rollback nor by the commit."""
    checkpoints.begin()
    checkpoints.stage_checkpoint("a", 1)
    checkpoints.write_config_hash(5, {"plan": "count"})
    assert checkpoints.read_config_hash() == 5
    assert sequences(checkpoints) == {}
    checkpoints.commit()
    assert (checkpoints.read_config_hash(), sequences(checkpoints)) == (5, {"a": 1})
    assert checkpoints.read_config() == {"plan": "count"}


@pytest.mark.parametrize("value", [-1, 2**64, 0.5, "5", True])
def test_hash_is_an_unsigned_64_bit_integer(checkpoints: SourceCheckpoints, value: Any) -> None:
    """Nothing else is stored as one."""
    with pytest.raises(ConfigError):
        checkpoints.write_config_hash(value)
    checkpoints.write_config_hash(2**64 - 1)
    assert checkpoints.read_config_hash() == 2**64 - 1


def test_resume_from_gives_position_and_duplicates(checkpoints: SourceCheckpoints) -> None:
    """A source goes on from its position, and knows which events are old."""
    commit(checkpoints, a=7)
    point = checkpoints.resume_from("a")
    assert point is not None
    assert (point.sequence, point.source_position, point.next_sequence) == (7, b"7", 8)
    assert [point.is_duplicate(sequence) for sequence in (6, 7, 8)] == [True, True, False]


def test_resume_from_an_unknown_source_is_nothing(checkpoints: SourceCheckpoints) -> None:
    """A source never seen has no past to skip."""
    commit(checkpoints, a=7)
    assert checkpoints.resume_from("b") is None


def test_a_restarted_counter_is_not_deduplicated_away(checkpoints: SourceCheckpoints) -> None:
    """Without a position nothing can be replayed: an old number is an error, not a skip."""
    with checkpoints.session():
        checkpoints.stage_checkpoint("a", 7)
    point = checkpoints.resume_from("a")
    assert point is not None
    assert not point.is_duplicate(point.next_sequence)
    with pytest.raises(MisuseError, match="old sequence"):
        point.is_duplicate(1)


@pytest.mark.parametrize("cleanup", [True, False])
def test_removing_a_query_clears_if_asked(checkpoints: SourceCheckpoints, *, cleanup: bool) -> None:
    """State elsewhere goes first; without cleanup all stays, and an open session is over."""
    commit(checkpoints, a=1)
    checkpoints.begin()
    seen: list[dict[str, int]] = []
    remove(checkpoints, cleanup=cleanup, clear_state=lambda: seen.append(sequences(checkpoints)))
    assert seen == ([{"a": 1}] if cleanup else [])
    assert sequences(checkpoints) == ({} if cleanup else {"a": 1})
    assert checkpoints.depth == 0


def test_only_a_store_is_persistent(tmp_path: Path) -> None:
    """Checkpoints on a store outlive their instance, those in memory do not."""
    assert not SourceCheckpoints().is_persistent
    kept = SourceCheckpoints(LocalStore(tmp_path), "query")
    commit(kept, a=1)
    assert kept.is_persistent
    assert sequences(SourceCheckpoints(LocalStore(tmp_path), "query/")) == {"a": 1}
    assert sequences(SourceCheckpoints(LocalStore(tmp_path), "other")) == {}


def test_a_store_and_a_ledger_exclude_each_other() -> None:
    """Which of the two would count is not left to guessing."""
    with pytest.raises(ConfigError, match="not both"):
        SourceCheckpoints(MemoryStore(), ledger=StoreLedger(MemoryStore()))
