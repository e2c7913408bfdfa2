"""A start takes over: it fences the writer before it, and decides again when it is overtaken."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from holdfast.errors import FencedError
from holdfast.ids import Writer
from holdfast.objectstore import MemoryStore, MeteredStore
from holdfast.sessions import SourceCheckpoints, config_hash, start
from tests.sessions.support import OTHER, commit, on_store, sequences

if TYPE_CHECKING:
    from collections.abc import Callable

OLD, NEW = {"plan": "count", "partitions": 200}, {"plan": "count", "partitions": 400}


def _query() -> MemoryStore:
    store = MemoryStore()
    checkpoints = on_store(store)
    commit(checkpoints, a=7)
    checkpoints.write_config_hash(config_hash(OLD), OLD)
    return store


@pytest.mark.parametrize(("config", "policy"), [(OLD, "strict"), (NEW, "warn")])
def test_a_start_fences_the_writer_before_it(config: dict[str, Any], policy: str) -> None:
    """An older driver that still runs finds its next number taken; the newest start wins."""
    store = MemoryStore()
    older = on_store(store)
    start(older, OLD)
    commit(older, a=1)
    newer = on_store(store, writer=OTHER)
    start(newer, config, policy=policy)
    with pytest.raises(FencedError, match="elsewhere"):
        commit(older, a=2)
    commit(newer, a=2)


class Busy(MemoryStore):
    """Another writer commits just before each of the first puts of a start."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self.other: Callable[[], None] = lambda: None
        self.times = times

    def put(self, key: str, body: Any, **options: Any) -> Any:
        if self.times and b"test-start" in body:
            self.times -= 1
            self.other()
        return super().put(key, body, **options)


def _contested(times: int) -> tuple[SourceCheckpoints, Busy]:
    store = Busy(times)
    other, count = on_store(store), iter(range(8, 100))
    commit(other, a=7)
    other.write_config_hash(config_hash(OLD), OLD)
    store.other = lambda: commit(other, a=next(count))
    starting = on_store(store, writer=Writer(host="h", application="test-start", pid=1))
    return starting, store


def test_a_start_that_is_overtaken_decides_again() -> None:
    """It resumes from what the other one committed last, not from what it read first."""
    checkpoints, _ = _contested(3)
    decision = start(checkpoints, OLD)
    point = decision.resume_from("a")
    assert point is not None
    assert point.sequence == 10
    assert sequences(checkpoints) == {"a": 10}


def test_a_start_that_is_always_overtaken_gives_up() -> None:
    """After a bounded number of tries it says who is in the way."""
    checkpoints, _ = _contested(1000)
    with pytest.raises(FencedError, match="kept writing"):
        start(checkpoints, OLD)


def test_a_fence_from_elsewhere_is_passed_on() -> None:
    """If clearing the state elsewhere finds this driver overtaken there, the start stops."""
    calls: list[int] = []

    def fenced() -> None:
        calls.append(1)
        raise FencedError("overtaken elsewhere")

    with pytest.raises(FencedError, match="overtaken elsewhere"):
        start(on_store(_query()), NEW, policy="auto-reset", clear_state=fenced)
    assert calls == [1]


@pytest.mark.parametrize("config", [OLD, NEW])
def test_a_start_is_one_put(config: dict[str, Any]) -> None:
    """So there is no half of a start to be killed in; 4 requests in all."""
    store = MeteredStore(_query())
    start(on_store(store), config, policy="auto-reset")
    used = store.meter.usage()
    assert (used.requests["put"], used.total) == (1, 4)
