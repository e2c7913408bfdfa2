"""A store is trusted only after real writers have fought over it."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from holdfast.errors import (
    AlreadyExistsError,
    NotFoundError,
    PreconditionError,
    StoreError,
    UnavailableError,
    UnsupportedError,
)
from holdfast.objectstore import (
    Certificate,
    LocalStore,
    MemoryStore,
    ObjectMeta,
    ObjectStore,
    Page,
    PutMode,
    certify,
    certify_race,
    ensure_certified,
)
from holdfast.objectstore.certify_race import ProcessWriter
from holdfast.settings import CERTIFICATE_KEY
from holdfast.testing import CarelessStore, Fault, FaultyStore, ManualClock
from holdfast.version import VERSION

if TYPE_CHECKING:
    from holdfast.objectstore import Blob, Body


class Hasty(ManualClock):
    """Time flies whenever somebody looks, so that a trial takes some ten rounds."""

    def monotonic(self) -> float:
        self.sleep(0.3)
        return super().monotonic()


class _CheckThenWrite(MemoryStore):
    """Keeps every condition for a lone writer, and none for two at once."""

    def put(self, key: str, body: Body, *, mode: PutMode = PutMode.OVERWRITE) -> ObjectMeta:
        try:
            etag = self.head(key).etag
        except NotFoundError:
            etag = None
        if mode.kind == "create" and etag is not None:
            raise AlreadyExistsError("object exists", key=key)
        if mode.kind == "if-match" and etag != mode.etag:
            raise PreconditionError("object is another version", key=key)
        time.sleep(0.002)
        return super().put(key, body)


class _IgnoresIfMatch(MemoryStore):
    def put(self, key: str, body: Body, *, mode: PutMode = PutMode.OVERWRITE) -> ObjectMeta:
        return super().put(key, body, mode=PutMode.OVERWRITE if mode.etag else mode)


class _ListsLate(MemoryStore):
    """Its listings do not know the newest object yet."""

    _newest = ""

    def put(self, key: str, body: Body, *, mode: PutMode = PutMode.OVERWRITE) -> ObjectMeta:
        self._newest = key
        return super().put(key, body, mode=mode)

    def list(self, prefix: str = "", *, start_after: str = "", limit: int = 1000) -> Page:
        page = super().list(prefix, start_after=start_after, limit=limit)
        known = tuple(meta for meta in page.objects if meta.key != self._newest)
        return Page(objects=known, more=page.more)


class _ReadsLate(MemoryStore):
    """Its reads give the version before the newest."""

    def __init__(self) -> None:
        super().__init__()
        self._before: dict[str, Blob] = {}

    def put(self, key: str, body: Body, *, mode: PutMode = PutMode.OVERWRITE) -> ObjectMeta:
        if key in self._blobs:
            self._before[key] = self._blobs[key]
        return super().put(key, body, mode=mode)

    def get(self, key: str, *, start: int = 0, length: int | None = None) -> Blob:
        return self._before.get(key) or super().get(key, start=start, length=length)


def _kept(store: ObjectStore) -> Certificate:
    kept = Certificate.from_json(store.get(CERTIFICATE_KEY).body)
    assert kept is not None
    return kept


def _keys(store: ObjectStore) -> list[str]:
    return [meta.key for meta in store.list().objects]


def test_a_sound_store_is_certified_and_the_verdict_kept() -> None:
    """Who, when, what and how often; and nothing else is left behind."""
    store, clock = MemoryStore(), Hasty()
    certificate = certify(store, clock=clock)
    assert certificate.certified
    assert {check.rule: check.passed for check in certificate.checks} == {
        "read-after-write": True,
        "list-after-write": True,
        "create-only": True,
        "if-match": True,
    }
    assert all(check.count >= 1 for check in certificate.checks)
    assert certificate.when_ms <= clock.now_ms()
    assert certificate.by == f"holdfast {VERSION}"
    assert _kept(store) == certificate
    assert _keys(store) == [CERTIFICATE_KEY]


def test_processes_take_part_where_they_can(tmp_path: Path) -> None:
    """A local store is raced by threads and by processes."""
    found: list[tuple[int, int]] = []
    for seconds in (2.0, 20.0):  # on a busy machine they take longer to come up
        with contextlib.suppress(UnavailableError):
            certificate = certify(LocalStore(tmp_path), seconds=seconds)
            found.append((certificate.threads, certificate.processes))
        if (4, 2) in found:
            return
    pytest.fail(f"threads and processes that took part: {found}")


@pytest.mark.parametrize(
    ("store", "rule"),
    [
        (CarelessStore(MemoryStore()), "create-only"),
        (_CheckThenWrite(), "create-only"),
        (_IgnoresIfMatch(), "if-match"),
        (_ListsLate(), "list-after-write"),
        (_ReadsLate(), "read-after-write"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_a_store_that_breaks_a_rule_is_refused(store: ObjectStore, rule: str) -> None:
    """The error names the rule with evidence, and the verdict is kept."""
    with pytest.raises(UnsupportedError) as caught:
        certify(store, clock=Hasty())
    assert caught.value.details["rule"] == rule
    assert caught.value.details["evidence"]


def test_a_refused_verdict_is_kept_and_refuses_again() -> None:
    """Without a new trial, and its probe objects are gone."""
    store = FaultyStore(CarelessStore(MemoryStore()))
    with pytest.raises(UnsupportedError):
        certify(store, clock=Hasty())
    assert _keys(store) == [CERTIFICATE_KEY]
    store.calls.clear()
    with pytest.raises(UnsupportedError, match="create-only"):
        ensure_certified(store, clock=Hasty())
    assert store.calls == [("get", (CERTIFICATE_KEY,))]


def test_a_certified_store_costs_one_request() -> None:
    """Every start but the first only reads the verdict."""
    store = FaultyStore(MemoryStore())
    first = ensure_certified(store, clock=Hasty())
    store.calls.clear()
    assert ensure_certified(store, clock=Hasty()) == first
    assert store.calls == [("get", (CERTIFICATE_KEY,))]


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"format": 99}', b'{"format": 1}'])
def test_a_verdict_that_cannot_be_read_is_made_anew(body: bytes) -> None:
    """It never counts as a yes."""
    store = MemoryStore()
    store.put(CERTIFICATE_KEY, body)
    assert ensure_certified(store, clock=Hasty()).certified
    careless = CarelessStore(MemoryStore())
    careless.put(CERTIFICATE_KEY, body)
    with pytest.raises(UnsupportedError):
        ensure_certified(careless, clock=Hasty())


def test_a_verdict_on_another_place_does_not_count(tmp_path: Path) -> None:
    """A store that was copied is certified where it is now."""
    memory = MemoryStore()
    certify(memory, clock=Hasty())
    copied = LocalStore(tmp_path)
    copied.put(CERTIFICATE_KEY, memory.get(CERTIFICATE_KEY).body)
    assert ensure_certified(copied, clock=Hasty()).store == copied.url


def test_a_store_that_fails_gets_no_verdict() -> None:
    """An error is passed on as it is, and probe objects are still removed."""
    memory = MemoryStore()
    fault = Fault(error=StoreError("out of paper"), verb="put", key="*/create-001")
    with pytest.raises(StoreError, match="out of paper"):
        certify(FaultyStore(memory, [fault]), clock=Hasty())
    assert _keys(memory) == []


def test_a_store_that_hangs_is_left_in_time() -> None:
    """Whatever the store does, the caller gets an answer, and there is no verdict."""
    release = threading.Event()

    class _Hangs(MemoryStore):
        def get(self, key: str, *, start: int = 0, length: int | None = None) -> Blob:
            release.wait(10)
            return super().get(key, start=start, length=length)

    store, began, others = _Hangs(), time.monotonic(), set(threading.enumerate())
    with pytest.raises(UnavailableError, match="too slow"):
        certify(store, seconds=0.05)
    assert time.monotonic() - began < 5
    release.set()
    for thread in set(threading.enumerate()) - others:
        thread.join(10)
    assert _keys(store) == []


def test_a_start_on_a_busy_machine_takes_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Too slow for the first, short trial is no reason to refuse a query its start."""

    class _Slow(MemoryStore):
        def get(self, key: str, *, start: int = 0, length: int | None = None) -> Blob:
            time.sleep(0.02)
            return super().get(key, start=start, length=length)

    # By its name in `holdfast.objectstore` it is the function, not the module.
    monkeypatch.setattr(sys.modules[certify.__module__], "_START_SECONDS", 0.001)
    assert ensure_certified(_Slow(), clock=Hasty()).certified


def test_leftovers_of_a_killed_trial_are_removed() -> None:
    """Once they are an hour old; younger ones may be a trial that is under way."""
    clock = Hasty()
    store = MemoryStore(clock=clock)
    store.put(".holdfast/certify/old/create-000", b"x")
    clock.sleep(3601)
    store.put(".holdfast/certify/young/create-000", b"x")
    certify(store, clock=clock)
    assert _keys(store) == [CERTIFICATE_KEY, ".holdfast/certify/young/create-000"]


def test_a_writer_process_hides_its_url_and_ends_with_its_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither its arguments nor its environment hold a secret."""
    monkeypatch.setattr(certify_race, "_GOODBYE_S", 60)  # no trial waits for this one
    writer = ProcessWriter(f"{tmp_path.as_uri()}/secret-hunter2")
    try:
        assert writer.ready(30)
        for name in ("cmdline", "environ"):
            shown = Path(f"/proc/{writer.process.pid}/{name}").read_bytes()
            assert b"hunter2" not in shown
        assert writer("a", "body", PutMode.CREATE) == "won"
        assert writer("a", "other", PutMode.CREATE) == "refused"
    finally:
        writer.close()
    assert writer.process.returncode == 0


def test_a_writer_process_that_cannot_open_the_store_does_not_take_part() -> None:
    """It answers, is not ready, and can be closed."""
    writer = ProcessWriter("s3://no-such")
    assert not writer.ready(30)
    writer.close()
