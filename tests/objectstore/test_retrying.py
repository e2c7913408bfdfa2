"""Retries are bounded, spread out, and never mistake our own success for another's."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from holdfast.errors import AlreadyExistsError, NotFoundError, PreconditionError, UnavailableError
from holdfast.objectstore import (
    MemoryStore,
    ObjectStore,
    PartedUpload,
    PutMode,
    RetryingStore,
    parted_of,
)
from holdfast.settings import RetrySettings
from holdfast.testing import Fault, FaultyStore, ManualClock, lost_reply

if TYPE_CHECKING:
    from collections.abc import Sequence

DOWN = UnavailableError("down")


def _retrying(inner: ObjectStore, clock: ManualClock | None = None) -> RetryingStore:
    settings = RetrySettings(attempts_max=3, first_delay_s=1.0, delay_max_s=1.5)
    return RetryingStore(
        inner, settings=settings, clock=clock or ManualClock(), jitter=random.Random(7)
    )


@pytest.mark.parametrize("verb", ["put", "get", "head", "list", "delete"])
def test_every_verb_is_tried_again(verb: str) -> None:
    """Two failures in a row are not seen by the caller."""
    memory = MemoryStore()
    memory.put("a", b"x")
    faults = [Fault(error=DOWN, verb=verb, nth=nth) for nth in (1, 2)]  # type: ignore[arg-type]
    faulty = FaultyStore(memory, faults)
    calls = {
        "put": lambda store: store.put("a", b"x"),
        "get": lambda store: store.get("a"),
        "head": lambda store: store.head("a"),
        "list": lambda store: store.list(),
        "delete": lambda store: store.delete(["a"]),
    }
    calls[verb](_retrying(faulty))
    assert len(faulty.calls) == 3


class FaultyParts:
    """Uploads in parts, each step of which is done, and answered from the second try on."""

    def __init__(self) -> None:
        self.steps: list[str] = []

    def _step(self, name: str) -> None:
        self.steps.append(name)
        if self.steps.count(name) == 1:
            raise DOWN

    def begin(self, key: str, sha256s: Sequence[str], *, expires_s: int) -> PartedUpload:
        del expires_s
        self._step("begin")
        return PartedUpload(key=key, id="1", sha256s=tuple(sha256s), parts=())

    def renew(self, upload: PartedUpload, *, expires_s: int) -> PartedUpload:
        del expires_s
        return upload

    def finish(self, upload: PartedUpload, etags: Sequence[str]) -> None:
        del upload, etags
        self._step("finish")

    def abort(self, upload: PartedUpload) -> None:
        del upload
        self._step("abort")


def test_every_step_of_an_upload_in_parts_is_tried_again() -> None:
    """Or one lost answer would have gigabytes sent again."""
    memory = MemoryStore()
    faulty = FaultyParts()
    memory.parts = faulty  # type: ignore[attr-defined]
    parted = parted_of(_retrying(memory))
    assert parted is not None
    upload = parted.renew(parted.begin("big", ["ab" * 32], expires_s=60), expires_s=60)
    parted.finish(upload, ["tag"])
    parted.abort(upload)
    assert faulty.steps == ["begin"] * 2 + ["finish"] * 2 + ["abort"] * 2


def test_a_store_without_parts_has_none_when_it_is_tried_again() -> None:
    """A large file goes through the driver there."""
    assert parted_of(_retrying(MemoryStore())) is None


def test_retries_end() -> None:
    """After the last attempt the caller is told, and no sleep follows it."""
    clock = ManualClock()
    faulty = FaultyStore(MemoryStore(), [Fault(error=DOWN, nth=0)])
    with pytest.raises(UnavailableError):
        _retrying(faulty, clock).get("a")
    assert len(faulty.calls) == 3
    assert len(clock.sleeps) == 2


def test_waits_are_random_below_a_doubling_ceiling() -> None:
    """No two clients keep step, and no wait passes the limit."""
    clock = ManualClock()
    faulty = FaultyStore(MemoryStore(), [Fault(error=DOWN, nth=0)])
    settings = RetrySettings(attempts_max=200, first_delay_s=1.0, delay_max_s=4.0)
    with pytest.raises(UnavailableError):
        RetryingStore(faulty, settings=settings, clock=clock, jitter=random.Random(7)).get("a")
    assert clock.sleeps[0] <= 1.0
    assert clock.sleeps[1] <= 2.0
    assert 3.5 < max(clock.sleeps) <= 4.0
    assert min(clock.sleeps[3:]) < 0.5


def test_an_answer_is_not_retried() -> None:
    """A no is a no."""
    faulty = FaultyStore(MemoryStore())
    with pytest.raises(NotFoundError):
        _retrying(faulty).get("a")
    assert len(faulty.calls) == 1


def test_a_lost_reply_of_a_create_is_a_success() -> None:
    """The retry finds the key taken, by our own bytes."""
    memory = MemoryStore()
    store = _retrying(FaultyStore(memory, [lost_reply(verb="put")]))
    assert store.put("a", bytearray(b"mine"), mode=PutMode.CREATE).read_back
    assert memory.get("a").body == b"mine"


def test_a_lost_reply_of_an_if_match_is_a_success() -> None:
    """The retry finds another version, which is ours."""
    memory = MemoryStore()
    etag = memory.put("a", b"old").etag
    store = _retrying(FaultyStore(memory, [lost_reply(verb="put")]))
    assert store.put("a", b"mine", mode=PutMode.if_match(etag)).read_back


def test_anothers_object_is_a_refusal() -> None:
    """Other bytes under the key mean that somebody else was first."""
    memory = MemoryStore()
    memory.put("a", b"theirs")
    with pytest.raises(AlreadyExistsError):
        _retrying(memory).put("a", b"mine", mode=PutMode.CREATE)
    with pytest.raises(PreconditionError):
        _retrying(memory).put("a", b"mine", mode=PutMode.if_match("stale"))


def test_a_refusal_that_cannot_be_read_back_is_unknown() -> None:
    """Our reply was lost, we are refused, and nobody can say by whom: never "exists"."""
    faults = [lost_reply(verb="put"), Fault(error=DOWN, verb="get", nth=0)]
    with pytest.raises(UnavailableError):
        _retrying(FaultyStore(MemoryStore(), faults)).put("a", b"mine", mode=PutMode.CREATE)


def test_endless_conflicts_are_resolved_by_reading() -> None:
    """Out of attempts, a create finds another's object and says so, instead of "unknown"."""
    memory = MemoryStore()
    memory.put("a", b"theirs")
    store = _retrying(FaultyStore(memory, [Fault(error=DOWN, verb="put", nth=0)]))
    with pytest.raises(AlreadyExistsError):
        store.put("a", b"mine", mode=PutMode.CREATE)


def test_an_effect_after_the_last_attempt_is_found() -> None:
    """The last reply was lost too, but the object is there."""
    faults = [Fault(error=DOWN, verb="put", nth=nth) for nth in (1, 2)]
    store = _retrying(FaultyStore(MemoryStore(), [*faults, lost_reply(verb="put", nth=3)]))
    assert store.put("a", b"mine", mode=PutMode.CREATE).read_back


def test_an_absent_object_leaves_the_outcome_unknown() -> None:
    """A put that was never answered may still arrive."""
    store = _retrying(FaultyStore(MemoryStore(), [Fault(error=DOWN, verb="put", nth=0)]))
    with pytest.raises(UnavailableError):
        store.put("a", b"mine", mode=PutMode.CREATE)


def test_an_overwrite_is_never_read_back() -> None:
    """The same bytes may be another's, so an overwrite that nobody confirmed is unknown."""
    memory = MemoryStore()
    memory.put("a", b"same")
    faulty = FaultyStore(memory, [Fault(error=DOWN, verb="put", nth=0)])
    with pytest.raises(UnavailableError):
        _retrying(faulty).put("a", b"same")
    assert {verb for verb, _ in faulty.calls} == {"put"}
