"""Sessions: begin, commit, rollback, the block form, and what a failed commit leaves."""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING

import pytest

from holdfast.errors import HoldfastError, MisuseError, UnavailableError
from holdfast.objectstore import MemoryStore
from holdfast.sessions import SourceCheckpoint, SourceCheckpoints
from holdfast.testing.faults import Fault, FaultyStore
from tests.sessions.support import commit, error_of, on_store, sequences

if TYPE_CHECKING:
    from collections.abc import Callable


def test_commit_makes_all_staged_sources_visible(checkpoints: SourceCheckpoints) -> None:
    """What a session staged is there after its commit."""
    commit(checkpoints, left=3, right=4)
    assert checkpoints.read_checkpoint("left") == SourceCheckpoint(3, b"3")
    assert sequences(checkpoints) == {"left": 3, "right": 4}


def test_reads_inside_a_session_give_committed_values(checkpoints: SourceCheckpoints) -> None:
    """A staged value is invisible until the commit, to its own session too."""
    commit(checkpoints, a=1)
    checkpoints.begin()
    checkpoints.stage_checkpoint("a", 2)
    assert checkpoints.read_checkpoint("a") == SourceCheckpoint(1, b"1")
    assert sequences(checkpoints) == {"a": 1}
    checkpoints.commit()
    assert sequences(checkpoints) == {"a": 2}


def test_rollback_discards_what_was_staged(checkpoints: SourceCheckpoints) -> None:
    """A rolled back session leaves no trace, in the next session neither."""
    checkpoints.begin()
    checkpoints.stage_checkpoint("a", 1)
    checkpoints.rollback()
    commit(checkpoints, b=2)
    assert sequences(checkpoints) == {"b": 2}


def test_staging_without_a_session_is_an_error(checkpoints: SourceCheckpoints) -> None:
    """On every backend, in-memory included."""
    with pytest.raises(MisuseError, match="needs an open session"):
        checkpoints.stage_checkpoint("a", 1)
    assert sequences(checkpoints) == {}


def _fails(checkpoints: SourceCheckpoints) -> None:
    with checkpoints.session():
        checkpoints.stage_checkpoint("a", 1)
        raise KeyError


def _swallows(checkpoints: SourceCheckpoints) -> None:
    with checkpoints.session():
        checkpoints.stage_checkpoint("b", 1)
        with contextlib.suppress(KeyError):
            _fails(checkpoints)


def _opens_another(checkpoints: SourceCheckpoints, *, fails: bool) -> None:
    with checkpoints.session():
        checkpoints.rollback()
        checkpoints.begin()
        checkpoints.stage_checkpoint("a", 1)
        if fails:
            raise KeyError


def test_a_block_that_raises_rolls_back(checkpoints: SourceCheckpoints) -> None:
    """The exception passes, and nothing was committed."""
    with pytest.raises(KeyError):
        _fails(checkpoints)
    assert checkpoints.depth == 0
    assert sequences(checkpoints) == {}


def test_outer_block_errs_after_an_inner_rollback(checkpoints: SourceCheckpoints) -> None:
    """Swallowing the inner exception does not let half of a session through."""
    with pytest.raises(MisuseError, match="commit needs an open session"):
        _swallows(checkpoints)
    assert sequences(checkpoints) == {}


def test_outer_block_does_not_commit_a_later_session(checkpoints: SourceCheckpoints) -> None:
    """A session opened after an inner rollback is not the outer block's to commit."""
    with pytest.raises(MisuseError, match="another one opened"):
        _opens_another(checkpoints, fails=False)
    assert checkpoints.depth == 1
    assert sequences(checkpoints) == {}


def test_outer_block_does_not_roll_back_a_later_session(checkpoints: SourceCheckpoints) -> None:
    """Nor is it the outer block's to discard."""
    with pytest.raises(KeyError):
        _opens_another(checkpoints, fails=True)
    checkpoints.commit()
    assert sequences(checkpoints) == {"a": 1}


def _failing_once() -> tuple[SourceCheckpoints, FaultyStore]:
    refused = Fault(error=UnavailableError("no answer"), verb="put")
    store = FaultyStore(MemoryStore(), [refused])
    return on_store(store), store


def test_a_failed_commit_can_be_retried() -> None:
    """Depth and staged values are kept; the block form leaves the session open too."""
    checkpoints, _ = _failing_once()
    with pytest.raises(HoldfastError):
        commit(checkpoints, a=1, b=2)
    assert checkpoints.depth == 1
    checkpoints.commit()
    assert checkpoints.depth == 0
    assert sequences(checkpoints) == {"a": 1, "b": 2}


def test_a_failed_commit_can_be_rolled_back() -> None:
    """Then nothing of it is in the next session."""
    checkpoints, _ = _failing_once()
    assert error_of(lambda: commit(checkpoints, a=1)) is not None
    checkpoints.rollback()
    commit(checkpoints, b=2)
    assert sequences(checkpoints) == {"b": 2}


def test_no_session_nests_into_one_whose_commit_failed() -> None:
    """A loop that ignores a failed commit is told at the next begin, not never."""
    checkpoints, _ = _failing_once()
    assert error_of(lambda: commit(checkpoints, a=1)) is not None
    with pytest.raises(MisuseError, match="still open"):
        commit(checkpoints, a=2)
    checkpoints.rollback()
    commit(checkpoints, a=2)
    assert sequences(checkpoints) == {"a": 2}


def test_a_commit_of_nothing_writes_nothing() -> None:
    """An empty session costs no request but the first reading."""
    checkpoints, store = _failing_once()
    commit(checkpoints)
    assert [verb for verb, _ in store.calls] == ["list"]


def _elsewhere(action: Callable[[], object]) -> list[BaseException | None]:
    found: list[BaseException | None] = []
    thread = threading.Thread(target=lambda: found.append(error_of(action)))
    thread.start()
    thread.join()
    return found


def test_a_session_belongs_to_its_thread(checkpoints: SourceCheckpoints) -> None:
    """Another thread cannot nest into it, stage into it or commit it; reading is fine."""
    checkpoints.begin()
    for action in (checkpoints.begin, checkpoints.commit, lambda: commit(checkpoints, a=1)):
        assert isinstance(_elsewhere(action)[0], MisuseError)
    assert _elsewhere(lambda: checkpoints.stage_checkpoint("a", 1))[0] is not None
    assert _elsewhere(checkpoints.read_all_checkpoints) == [None]
    assert checkpoints.depth == 1


def test_any_thread_may_roll_back(checkpoints: SourceCheckpoints) -> None:
    """Whoever stops a query can discard its session; the owner's commit then errs."""
    checkpoints.begin()
    checkpoints.stage_checkpoint("a", 1)
    assert _elsewhere(checkpoints.rollback) == [None]
    with pytest.raises(MisuseError):
        checkpoints.commit()
    assert sequences(checkpoints) == {}
