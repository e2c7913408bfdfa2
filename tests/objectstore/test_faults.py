"""The fakes fail exactly as they are told to."""

from __future__ import annotations

import pytest

from holdfast.errors import NotFoundError, UnavailableError
from holdfast.objectstore import MemoryStore, PutMode
from holdfast.testing import (
    CarelessStore,
    DyingStore,
    Fault,
    FaultyStore,
    ManualClock,
    StoreDied,
    lost_reply,
)


def test_a_manual_clock_passes_only_by_sleeping() -> None:
    """Wall clock and monotonic move together, and sleeps are kept."""
    clock = ManualClock(now_ms=5000)
    clock.sleep(1.5)
    assert (clock.now_ms(), clock.monotonic(), clock.sleeps) == (6500, 1.5, [1.5])


def test_the_nth_matching_call_fails() -> None:
    """Others of its verb, and other keys, go through."""
    fault = Fault(error=UnavailableError("down"), verb="put", key="a/*", nth=2)
    store = FaultyStore(MemoryStore(), [fault])
    store.put("a/1", b"x")
    store.put("b/1", b"x")
    with pytest.raises(UnavailableError):
        store.put("a/2", b"x")
    store.put("a/3", b"x")
    assert [meta.key for meta in store.list().objects] == ["a/1", "a/3", "b/1"]


def test_a_fault_before_has_no_effect_and_one_after_has() -> None:
    """A lost reply is the second kind."""
    memory = MemoryStore()
    before = FaultyStore(memory, [Fault(error=UnavailableError("down"), verb="put")])
    with pytest.raises(UnavailableError):
        before.put("a", b"x")
    with pytest.raises(NotFoundError):
        memory.get("a")
    with pytest.raises(UnavailableError):
        FaultyStore(memory, [lost_reply(verb="put")]).put("a", b"x")
    assert memory.get("a").body == b"x"


def test_a_delete_matches_by_any_of_its_keys() -> None:
    """And the calls are kept for the test to look at."""
    fault = Fault(error=UnavailableError("down"), verb="delete", key="b")
    store = FaultyStore(MemoryStore(), [fault])
    with pytest.raises(UnavailableError):
        store.delete(["a", "b"])
    assert store.calls == [("delete", ("a", "b"))]


@pytest.mark.parametrize(("last_takes_effect", "left"), [(False, ["a"]), (True, ["a", "b"])])
def test_a_dying_store_does_its_share_and_no_more(
    *, last_takes_effect: bool, left: list[str]
) -> None:
    """The fatal call has an effect only if asked for; all later ones have none."""
    memory = MemoryStore()
    store = DyingStore(memory, after=1, last_takes_effect=last_takes_effect)
    store.put("a", b"x")
    died_early = store.died
    for key in ("b", "c"):
        with pytest.raises(StoreDied):
            store.put(key, b"x")
    assert (died_early, store.died) == (False, True)
    assert [meta.key for meta in memory.list().objects] == left


def test_no_one_survives_a_dying_store() -> None:
    """`except Exception` does not catch it, as it would not catch a power cut."""
    assert not issubclass(StoreDied, Exception)


def test_a_careless_store_lets_everybody_win() -> None:
    """It answers success to every condition."""
    store = CarelessStore(MemoryStore())
    store.put("a", b"1", mode=PutMode.CREATE)
    store.put("a", b"2", mode=PutMode.CREATE)
    store.put("b", b"3", mode=PutMode.if_match("never"))
    assert (store.get("a").body, store.get("b").body) == (b"2", b"3")
