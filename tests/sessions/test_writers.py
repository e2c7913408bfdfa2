"""Two writers, lost replies, unknown outcomes and old numbers on a store."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from holdfast.errors import (
    CommitUnknownError,
    FencedError,
    PermissionDeniedError,
    UnavailableError,
)
from holdfast.objectstore import (
    Body,
    LocalStore,
    MemoryStore,
    ObjectMeta,
    ObjectStore,
    PutMode,
)
from holdfast.sessions import SourceCheckpoint
from holdfast.testing.faults import Fault, FaultyStore, lost_reply
from tests.sessions.support import OTHER, commit, documents, error_of, on_store, sequences, state

if TYPE_CHECKING:
    from pathlib import Path

DOWN = UnavailableError("no answer")


def test_a_second_writer_fences_the_first() -> None:
    """Whoever commits after another did is told who that was, and writes nothing."""
    store = MemoryStore()
    first, second = on_store(store), on_store(store, writer=OTHER)
    commit(first, a=1)
    commit(second, a=2)
    with pytest.raises(FencedError, match="user@elsewhere pid 8"):
        commit(first, a=3)
    assert sequences(second) == {"a": 2}


def test_a_fenced_writer_stays_fenced() -> None:
    """Rolling back and trying again does not get it past the other one."""
    store = MemoryStore()
    first, second = on_store(store), on_store(store)
    commit(first, a=1)
    commit(second, a=2)
    for _ in range(3):
        assert isinstance(error_of(lambda: commit(first, a=3)), FencedError)
        first.rollback()
    commit(second, a=4)
    assert sequences(first) == {"a": 4}


@pytest.mark.parametrize("retain", [1, 2, 8])
def test_a_writer_asleep_beyond_retention_is_fenced(retain: int) -> None:
    """Its number was freed long ago; creating it again does not count."""
    store = MemoryStore()
    sleeper, awake = on_store(store, retain=retain), on_store(store, retain=retain)
    commit(sleeper, a=1)
    for sequence in range(2, 40):
        commit(awake, a=sequence)
    with pytest.raises(FencedError):
        commit(sleeper, a=2)
    assert state(store).sources == {"a": SourceCheckpoint(39, b"39")}
    commit(awake, a=40)


@pytest.mark.parametrize("local", [False, True])
def test_of_racing_writers_one_wins(tmp_path: Path, *, local: bool) -> None:
    """Eight threads commit over the same head: one succeeds, seven are fenced."""
    store: ObjectStore = LocalStore(tmp_path) if local else MemoryStore()
    barrier = threading.Barrier(8)
    outcomes: dict[int, object] = {}

    def race(sequence: int) -> None:
        checkpoints = on_store(store)
        checkpoints.begin()
        checkpoints.stage_checkpoint("a", sequence)
        barrier.wait()
        outcomes[sequence] = error_of(checkpoints.commit)

    threads = [threading.Thread(target=race, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    winners = [number for number, error in outcomes.items() if error is None]
    assert state(store).sources == {"a": SourceCheckpoint(winners[0])}
    assert [type(error) for error in outcomes.values() if error] == [FencedError] * 7


def test_a_lost_reply_is_a_success() -> None:
    """The nonce in the document tells our own put from another's."""
    store = FaultyStore(MemoryStore(), [lost_reply(verb="put", nth=2)])
    checkpoints = on_store(store)
    commit(checkpoints, a=1)
    commit(checkpoints, a=2)
    commit(checkpoints, a=3)
    assert sequences(checkpoints) == {"a": 3}
    assert len(documents(store)) == 3


def test_no_reply_and_no_document_is_unknown() -> None:
    """The put may still arrive, so it is neither success nor failure; committing again is safe."""
    store = FaultyStore(MemoryStore(), [Fault(error=DOWN, verb="put")])
    checkpoints = on_store(store)
    with pytest.raises(CommitUnknownError, match="commit again"):
        commit(checkpoints, a=1)
    checkpoints.commit()
    assert sequences(checkpoints) == {"a": 1}


@pytest.mark.parametrize(
    "faults",
    [
        [lost_reply(verb="put"), Fault(error=DOWN, verb="get")],
        [Fault(error=DOWN, verb="list", nth=2)],
    ],
    ids=["reading back", "confirming"],
)
def test_a_store_that_falls_silent_after_the_put_is_unknown(faults: list[Fault]) -> None:
    """Landed, but not confirmed: the retry finds its own document and goes on behind it."""
    store = FaultyStore(MemoryStore(), faults)
    checkpoints = on_store(store)
    assert isinstance(error_of(lambda: commit(checkpoints, a=1)), CommitUnknownError)
    assert state(store).sources == {"a": SourceCheckpoint(1, b"1")}
    checkpoints.commit()
    commit(checkpoints, a=2)
    assert sequences(checkpoints) == {"a": 2}


def test_a_rolled_back_commit_that_landed_is_replaced() -> None:
    """Its positions do not stay behind in what this writer commits next."""
    silent = [lost_reply(verb="put"), Fault(error=DOWN, verb="get")]
    store = FaultyStore(MemoryStore(), silent)
    checkpoints = on_store(store)
    assert isinstance(error_of(lambda: commit(checkpoints, a=1)), CommitUnknownError)
    checkpoints.rollback()
    commit(checkpoints, b=1)
    assert sequences(checkpoints) == {"b": 1}


class Delayed(FaultyStore):
    """Answers nothing, and keeps each put for later."""

    def __init__(self, inner: ObjectStore) -> None:
        super().__init__(inner)
        self.held: list[tuple[str, Body]] = []
        self.holding = True

    def put(self, key: str, body: Body, *, mode: PutMode = PutMode.OVERWRITE) -> ObjectMeta:
        if not self.holding:
            return super().put(key, body, mode=mode)
        self.held.append((key, body))
        raise UnavailableError("no answer")

    def release(self) -> None:
        self.holding = False
        for key, body in self.held:
            self.put(key, body, mode=PutMode.CREATE)


def test_a_put_that_arrives_late_is_replaced() -> None:
    """Given up, then landed under the number that the next commit wants: ours, so go behind it."""
    store = Delayed(MemoryStore())
    checkpoints = on_store(store)
    assert isinstance(error_of(lambda: commit(checkpoints, a=1)), CommitUnknownError)
    checkpoints.rollback()
    store.release()
    assert sequences(checkpoints) == {"a": 1}
    commit(checkpoints, b=1)
    assert sequences(checkpoints) == {"b": 1}


def test_another_writer_after_no_reply_is_a_fence() -> None:
    """Between our put that failed and the reading back, another one took the number."""
    store = MemoryStore()
    fault = Fault(error=DOWN, verb="put")
    checkpoints = on_store(FaultyStore(store, [fault]))
    checkpoints.begin()
    commit(on_store(store), a=5)
    checkpoints.stage_checkpoint("a", 1)
    with pytest.raises(FencedError):
        checkpoints.commit()


def test_a_refusal_is_passed_on_and_keeps_the_session() -> None:
    """No right to write is said as it is; with the right given back, the commit works."""
    refused = Fault(error=PermissionDeniedError("no"), verb="put")
    checkpoints = on_store(FaultyStore(MemoryStore(), [refused]))
    with pytest.raises(PermissionDeniedError):
        commit(checkpoints, a=1)
    checkpoints.commit()
    assert sequences(checkpoints) == {"a": 1}
