"""How long retries last: for a guaranteed time, without a storm, and each wait is logged."""

from __future__ import annotations

import logging
import random
import socket
import threading
import time
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime
from typing import TYPE_CHECKING

import pytest

from holdfast.clock import Deadline
from holdfast.errors import ConfigError, UnavailableError
from holdfast.objectstore import MemoryStore, PutMode, RetryingStore, open_store
from holdfast.objectstore.retrying import READ_BACK_SECONDS
from holdfast.objectstore.s3answers import read_retry_after
from holdfast.settings import MIB, ChainSettings, RetrySettings
from holdfast.testing import Fault, FaultyStore, ManualClock
from tests.objectstore.scripted import ETAG, Reply, ScriptedServer, error

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.objectstore import Blob, Body, ObjectMeta
    from holdfast.objectstore.s3 import S3Store

    Connect = Callable[..., S3Store]

SLOW_DOWN = UnavailableError("slow down")
TEN_MINUTES = 600.0


def retrying(
    clock: ManualClock, *, error: UnavailableError = SLOW_DOWN, seed: int = 7, **settings: float
) -> tuple[RetryingStore, FaultyStore]:
    """A store that is unavailable for good, and what was asked of it."""
    faulty = FaultyStore(MemoryStore(), [Fault(error=error, nth=0)])
    chosen = RetrySettings(**settings)  # type: ignore[arg-type]  # seconds are floats
    store = RetryingStore(faulty, settings=chosen, clock=clock, jitter=random.Random(seed))
    return store, faulty


@pytest.mark.parametrize("seed", range(20))
def test_ten_minutes_of_slow_down_cost_few_requests(seed: int) -> None:
    """No storm: after the first seconds it is one request in five seconds, on average."""
    clock = ManualClock()
    store, faulty = retrying(clock, seed=seed, seconds=TEN_MINUTES)
    with pytest.raises(UnavailableError, match="gave up after 600 s"):
        store.get("key")
    assert 60 < len(faulty.calls) < 180
    assert TEN_MINUTES - 1 < clock.monotonic() <= TEN_MINUTES


@pytest.mark.parametrize("seed", range(20))
def test_the_time_is_guaranteed(seed: int) -> None:
    """Whatever the waits come to, the last try is made just before the deadline."""
    clock = ManualClock()
    store, faulty = retrying(clock, seed=seed, seconds=60)
    with pytest.raises(UnavailableError):
        store.get("key")
    assert clock.monotonic() == pytest.approx(59.5)
    assert len(faulty.calls) < 40


def test_the_store_says_how_long_to_wait() -> None:
    """No try is made before that."""
    clock = ManualClock()
    asks = UnavailableError("slow down", retry_after_s=20.0)
    store, faulty = retrying(clock, error=asks, seconds=70)
    with pytest.raises(UnavailableError):
        store.get("key")
    assert min(clock.sleeps[:-1]) >= 20
    assert len(faulty.calls) <= 5


def test_a_wait_beyond_the_deadline_is_cut_short() -> None:
    """A store that asks for an hour is asked once more before the deadline."""
    clock = ManualClock()
    asks = UnavailableError("slow down", retry_after_s=3600.0)
    store, faulty = retrying(clock, error=asks, seconds=60)
    with pytest.raises(UnavailableError):
        store.get("key")
    assert len(faulty.calls) == 2
    assert clock.monotonic() < 60


def test_every_wait_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    """What is tried, why it waits, for how long, and how long remains."""
    clock = ManualClock()
    code = UnavailableError("the store did not do this now", code="SlowDown")
    store, _ = retrying(clock, error=code, seconds=30)
    with caplog.at_level(logging.WARNING, logger="holdfast"), pytest.raises(UnavailableError):
        store.list("orders/manifests/")
    assert len(caplog.records) == len(clock.sleeps)
    first = caplog.records[0]
    assert first.levelno == logging.WARNING
    assert first.getMessage().startswith(
        "list orders/manifests/: the store did not do this now (SlowDown); trying again in 0."
    )
    assert first.getMessage().endswith("giving up in 30 s")


def test_requests_with_one_deadline_share_it() -> None:
    """The second request has what the first one left."""
    clock = ManualClock()
    store, _ = retrying(clock)
    bound = store.within(Deadline.after(10, clock=clock, setting="some.setting"))
    for _ in range(2):
        with pytest.raises(UnavailableError, match="gave up after 10 s") as caught:
            bound.get("key")
        assert "raise some.setting" in caught.value.hint
    assert clock.monotonic() <= 10


@pytest.mark.parametrize("seconds", [60.1, 3600.0], ids=["slow answer", "paused process"])
def test_a_read_back_has_a_grace_beyond_the_deadline(seconds: float) -> None:
    """The put used all the time, and its last reply was lost: the outcome is still found."""
    clock = ManualClock()

    class LateSuccess(FaultyStore):
        """Takes a put and answers it a moment after the deadline."""

        def put(self, key: str, body: Body, *, mode: PutMode = PutMode.OVERWRITE) -> ObjectMeta:
            clock.sleep(seconds)
            super().put(key, body, mode=mode)
            raise SLOW_DOWN

    store = RetryingStore(LateSuccess(MemoryStore()), clock=clock)
    bound = store.within(Deadline.after(60, clock=clock))
    assert bound.put("key", b"mine", mode=PutMode.CREATE).read_back
    assert clock.monotonic() <= seconds + READ_BACK_SECONDS


def test_a_large_body_may_take_longer_outside_a_gate() -> None:
    """A gigabyte at some megabytes a second is not an outage; a gate has its fixed time."""
    clock, allowed = ManualClock(), []

    class Timed(FaultyStore):
        """Notes how long a request may take."""

        def within(self, deadline: Deadline) -> Timed:
            allowed.append(deadline.remaining_s())
            return self

    memory = MemoryStore()
    memory.put("key", b"body")
    store = RetryingStore(Timed(memory), clock=clock)
    bound = store.within(Deadline.after(60, clock=clock))
    for each in (store, bound):
        each.get("key", length=100 * MIB)
        each.put("key", b"body")
    assert allowed[0] == pytest.approx(160)
    assert allowed[1:] == pytest.approx([60.0] * 3)


def test_a_time_must_be_one() -> None:
    """Zero would try nothing, and without a bound a gate would hang."""
    for seconds in (0.0, -1.0, float("inf"), float("nan")):
        with pytest.raises(ConfigError):
            RetrySettings(seconds=seconds)
        with pytest.raises(ConfigError):
            ChainSettings(gate_seconds=seconds)


NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, 0),
        ({"retry-after": "7"}, 7),
        ({"retry-after": "soon"}, 0),
        ({"retry-after": "-5"}, 0),
        ({"retry-after": format_datetime(NOW + timedelta(seconds=30))}, 30),
        ({"retry-after": format_datetime(NOW - timedelta(seconds=30))}, 0),
        (
            {
                "retry-after": format_datetime(NOW + timedelta(hours=1, seconds=9)),
                "date": format_datetime(NOW + timedelta(hours=1)),
            },
            9,
        ),
    ],
)
def test_retry_after_is_a_number_or_a_date(headers: dict[str, str], seconds: float) -> None:
    """A date counts from the server's own clock, where it says what that is."""
    clock = ManualClock(now_ms=round(NOW.timestamp() * 1000))
    assert read_retry_after(headers, clock) == seconds


@pytest.mark.parametrize("status", [429, 503])
def test_s3_asks_to_wait(server: ScriptedServer, connect: Connect, status: int) -> None:
    """By the header that comes with SlowDown."""
    busy = error("SlowDown", status)
    asks = Reply(status=status, body=busy.body, headers={**busy.headers, "Retry-After": "20"})
    server.then(asks, Reply(headers=ETAG))
    clock = ManualClock()
    RetryingStore(connect(), clock=clock).put("key", b"body")
    assert [20 <= each < 20.2 for each in clock.sleeps] == [True]


def test_four_seconds_of_slow_down_in_real_time(server: ScriptedServer, connect: Connect) -> None:
    """The put succeeds, after a number of requests that one can count."""
    server.then(error("SlowDown", 503))
    threading.Timer(4, lambda: server.then(Reply(headers=ETAG))).start()
    assert RetryingStore(connect()).put("key", b"body").etag == "etag-1"
    assert len(server.asked) < 30


def test_a_server_that_is_back_within_the_time_is_waited_for() -> None:
    """Its port was closed for some seconds: refused connections cost no time, so tries are many."""
    with socket.create_server(("127.0.0.1", 0)) as reserved:
        port = reserved.getsockname()[1]
    store = open_store(f"s3://A:b@bucket?endpoint_url=http://127.0.0.1:{port}")
    found: list[Blob] = []
    reader = threading.Thread(target=lambda: found.append(store.get("key")))
    reader.start()
    time.sleep(6)
    server = ScriptedServer(Reply(body=b"body", headers=ETAG), port=port)
    reader.join()
    server.close()
    assert [blob.body for blob in found] == [b"body"]
