"""Killed at any store call, before or after its effect: the next process sees old or new."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from holdfast.errors import NotFoundError
from holdfast.objectstore import MemoryStore, ObjectStore
from holdfast.sessions import Outcome, SourceState, config_hash, remove, start
from tests.sessions.support import after_each_death, commit, documents, on_store, sequences, state

if TYPE_CHECKING:
    from collections.abc import Callable

OLD, NEW = {"plan": "old"}, {"plan": "new"}


def _prepare(store: ObjectStore) -> None:
    """Three documents, two sources, an old hash, and state of that configuration elsewhere."""
    checkpoints = on_store(store, retain=1)
    checkpoints.write_config_hash(config_hash(OLD), OLD)
    commit(checkpoints, left=1, right=1)
    commit(checkpoints, left=2, right=2)
    store.put("external", b"old")


def _commit(store: ObjectStore) -> None:
    commit(on_store(store, retain=1), left=3, right=3)


def _clear(store: ObjectStore) -> None:
    on_store(store, retain=1).clear_checkpoints()


def _hash(store: ObjectStore) -> None:
    on_store(store, retain=1).write_config_hash(config_hash(NEW), NEW)


def _remove(store: ObjectStore) -> None:
    remove(on_store(store), cleanup=True, clear_state=lambda: store.delete(["external"]))


def _reset(store: ObjectStore) -> None:
    start(
        on_store(store, retain=1),
        NEW,
        policy="auto-reset",
        clear_state=lambda: store.delete(["external"]),
    )


def _resume(store: ObjectStore) -> None:
    start(on_store(store, retain=1), OLD)


FLOWS = [_commit, _clear, _hash, _remove, _reset, _resume]


def _outcome(flow: Callable[[ObjectStore], None] | None) -> SourceState:
    store = MemoryStore()
    _prepare(store)
    if flow is not None:
        flow(store)
    return state(store)


@pytest.mark.parametrize("flow", FLOWS)
def test_a_killed_change_is_there_or_not(flow: Callable[[ObjectStore], None]) -> None:
    """A new process sees the state before or the state after, never a mix, and both happen."""
    old, new = _outcome(None), _outcome(flow)
    seen = [state(store) for store in after_each_death(_prepare, flow)]
    assert all(each in (old, new) for each in seen)
    assert old in seen
    assert new in seen


@pytest.mark.parametrize("flow", FLOWS)
def test_a_new_process_goes_on_after_any_death(flow: Callable[[ObjectStore], None]) -> None:
    """What the dead one left behind does not fence the living, and is tidied up."""
    for store in after_each_death(_prepare, flow):
        checkpoints = on_store(store, retain=1)
        commit(checkpoints, left=9, right=9)
        commit(checkpoints, left=10, right=10)
        assert sequences(checkpoints) == {"left": 10, "right": 10}
        assert len(documents(store)) == 1


def _external(store: ObjectStore) -> bytes | None:
    try:
        return store.get("external").body
    except NotFoundError:
        return None


def test_old_state_never_stands_under_the_new_hash() -> None:
    """Wherever a reset is killed, the new hash means that the old state is gone."""
    for store in after_each_death(_prepare, _reset):
        if state(store).config_hash == config_hash(NEW):
            assert _external(store) is None
            assert state(store).sources == {}


def test_a_killed_reset_is_done_again() -> None:
    """The next start finds a mismatch and resets, or a match with nothing left to clear."""
    for store in after_each_death(_prepare, _reset):
        decision = start(
            on_store(store),
            NEW,
            policy="auto-reset",
            clear_state=lambda store=store: store.delete(["external"]),  # type: ignore[misc]
        )
        assert decision.outcome in {Outcome.MATCH, Outcome.MISMATCH}
        assert decision.resume_points == {}
        assert _external(store) is None


def test_a_removed_query_leaves_nothing_to_resume_over() -> None:
    """Once the checkpoints are gone, so is the state: a new query of that name starts clean."""
    for store in after_each_death(_prepare, _remove):
        if state(store).is_empty:
            assert _external(store) is None


def test_an_unreadable_state_is_reset_or_left() -> None:
    """A killed reset of damaged checkpoints leaves them damaged, or the new hash alone."""

    def damaged(store: ObjectStore) -> None:
        _prepare(store)
        store.put(documents(store)[-1], b"{")

    def read(store: ObjectStore) -> Any:
        return None if store.get(documents(store)[-1]).body == b"{" else state(store)

    seen = [read(store) for store in after_each_death(damaged, _reset)]
    assert {each.config_hash for each in seen if each} == {config_hash(NEW)}
    assert None in seen
