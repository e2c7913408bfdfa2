"""Fakes that fail on purpose: a clock that only counts, and stores that err, die or do not care."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar

from holdfast.errors import UnavailableError
from holdfast.objectstore.base import Blob, Body, ObjectMeta, ObjectStore, Page, Presigned, PutMode
from holdfast.settings import LIST_PAGE_MAX

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

T = TypeVar("T")
Verb: TypeAlias = Literal["put", "get", "head", "list", "delete", "presign"]


class ManualClock:
    """Time that passes only when somebody sleeps; any thread may ask."""

    def __init__(self, *, now_ms: int = 1_700_000_000_000) -> None:
        self._lock = threading.Lock()
        self._start_ms = now_ms
        self._passed_s = 0.0
        self.sleeps: list[float] = []

    def now_ms(self) -> int:
        return self._start_ms + round(self._passed_s * 1000)

    def monotonic(self) -> float:
        return self._passed_s

    def sleep(self, seconds: float) -> None:
        with self._lock:
            self.sleeps.append(seconds)
            self._passed_s += seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Which call fails, and how.

    The `nth` call (from 1; 0 means every one) of this verb whose key matches the pattern raises
    the error, before or after the effect. For `list` the key is the prefix; a `delete` matches
    if any of its keys does.
    """

    error: BaseException
    verb: Verb | Literal["*"] = "*"
    key: str = "*"
    nth: int = 1
    when: Literal["before", "after"] = "before"


def lost_reply(*, verb: Verb | Literal["*"] = "*", key: str = "*", nth: int = 1) -> Fault:
    """The call takes effect, and its caller never learns of it."""
    return Fault(
        error=UnavailableError("the reply was lost"), verb=verb, key=key, nth=nth, when="after"
    )


class _Wrapper:
    """Passes every verb of a store through `_call`, where a fake does its mischief.

    It hides what it wraps, so nobody gets around the mischief.
    """

    def __init__(self, inner: ObjectStore) -> None:
        self._wrapped = inner

    @property
    def url(self) -> str:
        return self._wrapped.url

    @property
    def can_presign(self) -> bool:
        return self._wrapped.can_presign

    def put(self, key: str, body: Body, *, mode: PutMode = PutMode.OVERWRITE) -> ObjectMeta:
        return self._call("put", (key,), lambda: self._wrapped.put(key, body, mode=mode))

    def get(self, key: str, *, start: int = 0, length: int | None = None) -> Blob:
        return self._call("get", (key,), lambda: self._wrapped.get(key, start=start, length=length))

    def head(self, key: str) -> ObjectMeta:
        return self._call("head", (key,), lambda: self._wrapped.head(key))

    def list(self, prefix: str = "", *, start_after: str = "", limit: int = LIST_PAGE_MAX) -> Page:
        return self._call(
            "list",
            (prefix,),
            lambda: self._wrapped.list(prefix, start_after=start_after, limit=limit),
        )

    def delete(self, keys: Iterable[str]) -> None:
        wanted = tuple(keys)
        self._call("delete", wanted, lambda: self._wrapped.delete(wanted))

    def presign(
        self, method: Literal["GET", "PUT"], key: str, *, expires_s: int = 300, sha256: str = ""
    ) -> Presigned:
        return self._call(
            "presign",
            (key,),
            lambda: self._wrapped.presign(method, key, expires_s=expires_s, sha256=sha256),
        )

    def _call(self, verb: Verb, keys: tuple[str, ...], request: Callable[[], T]) -> T:
        del verb, keys
        return request()


@dataclass(slots=True)
class _Rule:
    fault: Fault
    seen: int = field(default=0)

    def due(self, verb: Verb, keys: tuple[str, ...]) -> bool:
        fault = self.fault
        if fault.verb not in ("*", verb) or not any(fnmatchcase(key, fault.key) for key in keys):
            return False
        self.seen += 1
        return fault.nth in (0, self.seen)


class FaultyStore(_Wrapper):
    """Any store, failing by script; `calls` is what was asked of it, in order."""

    def __init__(self, inner: ObjectStore, faults: Iterable[Fault] = ()) -> None:
        super().__init__(inner)
        self._lock = threading.Lock()
        self._rules = [_Rule(fault) for fault in faults]
        self.calls: list[tuple[Verb, tuple[str, ...]]] = []

    def _call(self, verb: Verb, keys: tuple[str, ...], request: Callable[[], T]) -> T:
        with self._lock:
            self.calls.append((verb, keys))
            due = [rule.fault for rule in self._rules if rule.due(verb, keys)]
        for fault in due:
            if fault.when == "before":
                raise fault.error.with_traceback(None)
        answer = request()
        for fault in due:
            raise fault.error.with_traceback(None)
        return answer


class StoreDied(BaseException):
    """The process that used this store is dead from here on."""


class DyingStore(_Wrapper):
    """Performs `after` operations; every further call raises `StoreDied`.

    With `last_takes_effect`, the first fatal call still reaches the store before its caller dies.
    """

    def __init__(self, inner: ObjectStore, *, after: int, last_takes_effect: bool = False) -> None:
        super().__init__(inner)
        self._lock = threading.Lock()
        self._left = after
        self._last = last_takes_effect

    @property
    def died(self) -> bool:
        return self._left < 0

    def _call(self, verb: Verb, keys: tuple[str, ...], request: Callable[[], T]) -> T:
        with self._lock:
            self._left -= 1
            left, last = self._left, self._last
            if left < 0:
                self._last = False
        if left >= 0:
            return request()
        if last:
            request()
        raise StoreDied(verb, *keys)


class CarelessStore(_Wrapper):
    """Ignores the condition of every put, as some S3-compatible servers do."""

    def put(self, key: str, body: Body, *, mode: PutMode = PutMode.OVERWRITE) -> ObjectMeta:
        del mode
        return super().put(key, body)
