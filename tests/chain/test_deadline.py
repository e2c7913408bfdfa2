"""Gates and claims end at their deadline, and the outcome of a write is read back once."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from holdfast.chain import Chain
from holdfast.chain.create import create
from holdfast.errors import CommitUnknownError, FencedError, UnavailableError
from holdfast.layout import Keys
from holdfast.objectstore import MemoryStore, PutMode, RetryingStore
from holdfast.objectstore.retrying import READ_BACK_SECONDS
from holdfast.settings import ChainSettings, RetrySettings
from holdfast.testing import Fault, FaultyStore, ManualClock, StoreDied
from tests.chain.support import QUERY, chain, plan, results

if TYPE_CHECKING:
    from holdfast.chain import Head
    from holdfast.objectstore import Body, ObjectMeta

GATE_SECONDS = 60.0
FOREVER = 1e9
KEYS = Keys.of_query(QUERY)
DOWN = UnavailableError("down")


class Outage(FaultyStore):
    """Puts of a key that ends so fail until so many seconds after the first one of them."""

    def __init__(self, clock: ManualClock, **seconds: float) -> None:
        super().__init__(MemoryStore())
        self._clock, self._seconds = clock, seconds
        self._since: dict[str, float] = {}

    def put(self, key: str, body: Body, *, mode: PutMode = PutMode.OVERWRITE) -> ObjectMeta:
        kind = key.rpartition("/")[2].partition(".")[0].replace("-", "_")
        now = self._clock.monotonic()
        if now < self._since.setdefault(kind, now) + self._seconds.get(kind, 0):
            raise DOWN
        return super().put(key, body, mode=mode)


def opened(store: FaultyStore, clock: ManualClock, *, attempts_max: int | None = None) -> Chain:
    """A chain over a store that is retried, both on one clock."""
    settings = RetrySettings(attempts_max=attempts_max)
    retrying = RetryingStore(store, settings=settings, clock=clock, jitter=random.Random(7))
    chosen = ChainSettings(gate_seconds=GATE_SECONDS, parallel=1, inline_bytes_max=0)
    return Chain(retrying, QUERY, settings=chosen, clock=clock)


def test_a_gate_waits_for_the_store_until_its_deadline() -> None:
    """Any outage that is shorter than the deadline is waited for."""
    clock = ManualClock()
    writer = opened(Outage(clock, intent_000002=GATE_SECONDS - 1), clock).claim()
    assert writer.intent(0, plan(0)).batch == 0


def test_a_gate_ends_at_its_deadline_and_says_which_setting_to_raise() -> None:
    """The error has the time and the key; the gate took no longer than deadline and grace."""
    clock = ManualClock()
    writer = opened(Outage(clock, intent_000002=FOREVER), clock).claim()
    began = clock.monotonic()
    with pytest.raises(CommitUnknownError, match="gave up after 60 s") as caught:
        writer.intent(0, plan(0))
    assert "spark.holdfast.gate.seconds" in caught.value.hint
    assert GATE_SECONDS - 1 < clock.monotonic() - began <= GATE_SECONDS + READ_BACK_SECONDS


def test_nothing_to_read_back_with_ends_within_the_grace() -> None:
    """Neither puts nor gets are answered: the read-back ends too."""
    clock = ManualClock()
    faults = [Fault(error=DOWN, verb=verb, key="*intent-000002*", nth=0) for verb in ("put", "get")]
    writer = opened(FaultyStore(MemoryStore(), faults), clock).claim()
    began = clock.monotonic()
    with pytest.raises(CommitUnknownError):
        writer.intent(0, plan(0))
    assert clock.monotonic() - began <= GATE_SECONDS + READ_BACK_SECONDS


def test_the_requests_of_one_gate_share_one_deadline() -> None:
    """A pack that took most of the time leaves the manifest the rest."""
    clock = ManualClock()
    store = Outage(clock, state_000002=GATE_SECONDS - 10, manifest_000002=FOREVER)
    writer = opened(store, clock).claim()
    writer.intent(0, plan(0))
    began = clock.monotonic()
    with pytest.raises(CommitUnknownError):
        writer.commit(0, results(0))
    assert clock.monotonic() - began <= GATE_SECONDS + READ_BACK_SECONDS


def test_every_gate_has_a_deadline_of_its_own() -> None:
    """Two outages of 40 seconds, in the intent and in the commit, stop nothing."""
    clock = ManualClock()
    writer = opened(Outage(clock, intent_000002=40, manifest_000002=40), clock).claim()
    writer.intent(0, plan(0))
    assert writer.commit(0, results(0)).number == 2
    assert clock.monotonic() > 70


def test_a_claim_ends_at_its_deadline() -> None:
    """However many requests it needs."""
    clock = ManualClock()
    faulty = FaultyStore(MemoryStore(), [Fault(error=DOWN, verb="list", nth=0)])
    with pytest.raises(UnavailableError, match="gave up after 60 s"):
        opened(faulty, clock).claim()
    assert clock.monotonic() <= GATE_SECONDS


@pytest.mark.parametrize("deep", [False, True])
def test_hashing_the_state_is_not_part_of_the_claims_time(deep: bool) -> None:  # noqa: FBT001 - a parameter
    """It takes as long as the state is large."""
    clock = ManualClock()
    faulty = FaultyStore(MemoryStore())
    opened(faulty, clock).claim()
    verified = []

    def verify(head: Head) -> None:
        verified.append(head.number)
        clock.sleep(10 * GATE_SECONDS)

    assert opened(faulty, clock).claim(deep=deep, verify=verify).head.number == 2
    assert verified == [1]


def test_the_claims_deadline_ends_with_the_claim() -> None:
    """Hints, retention and the next gates come long after it."""
    clock = ManualClock()
    writer = opened(FaultyStore(MemoryStore()), clock).claim()
    clock.sleep(10 * GATE_SECONDS)
    writer.write_hint()
    writer.retain()
    writer.intent(0, plan(0))


@pytest.mark.parametrize(("get", "gets"), [("absent", 1), ("unreadable", 2)])
def test_an_unanswered_create_is_read_back_once(get: str, gets: int) -> None:
    """Two tries of the put, then the read-back, and no other requests after it."""
    faults = [Fault(error=DOWN, verb="put", key="*intent-000002*", nth=0)]
    if get == "unreadable":
        faults.append(Fault(error=DOWN, verb="get", key="*intent-000002*", nth=0))
    faulty = FaultyStore(MemoryStore(), faults)
    writer = opened(faulty, ManualClock(), attempts_max=2).claim()
    faulty.calls.clear()
    with pytest.raises(CommitUnknownError):
        writer.intent(0, plan(0))
    assert [verb for verb, _ in faulty.calls] == ["put"] * 2 + ["get"] * gets


def test_a_plan_found_by_its_read_back_is_checked_within_the_grace() -> None:
    """The put used all the time and its reply was lost, but the plan is durable and ours."""
    clock = ManualClock()

    class Silent(FaultyStore):
        """Takes the plan, and answers when the deadline has passed."""

        def put(self, key: str, body: Body, *, mode: PutMode = PutMode.OVERWRITE) -> ObjectMeta:
            done = super().put(key, body, mode=mode)
            if "intent-000002" in key:
                clock.sleep(GATE_SECONDS)
                raise DOWN
            return done

    writer = opened(Silent(MemoryStore()), clock).claim()
    assert writer.intent(0, plan(0)).batch == 0


def test_a_refused_create_is_read_once() -> None:
    """The bytes that tell who has the number come with the refusal."""
    store = MemoryStore()
    faulty = FaultyStore(store)
    writer = opened(faulty, ManualClock()).claim()
    chain(store, "new").claim()
    faulty.calls.clear()
    with pytest.raises(FencedError, match="host-new"):
        writer.intent(0, plan(0))
    assert [verb for verb, _ in faulty.calls] == ["put", "get"]


def test_a_gate_without_time_left_sends_nothing() -> None:
    """What was never sent needs no read-back, and no outcome is unknown."""
    clock = ManualClock()
    faulty = FaultyStore(MemoryStore())
    context = opened(faulty, clock).context.with_deadline()
    clock.sleep(GATE_SECONDS)
    with pytest.raises(UnavailableError, match="no time is left"):
        create(context, "key", b"body")
    with pytest.raises(UnavailableError, match="no time is left"):
        context.store.get("key")
    assert faulty.calls == []


def test_a_dead_process_is_no_outage() -> None:
    """What is not an error of the store passes through at once."""
    faulty = FaultyStore(MemoryStore(), [Fault(error=StoreDied(), verb="list")])
    clock = ManualClock()
    with pytest.raises(StoreDied):
        opened(faulty, clock).claim()
    assert clock.sleeps == []
