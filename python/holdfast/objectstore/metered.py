"""Counting: requests and bytes by verb, and what they cost."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from holdfast.objectstore.base import (
    Blob,
    Body,
    ObjectMeta,
    ObjectStore,
    Page,
    Presigned,
    PutMode,
    within,
)
from holdfast.settings import LIST_PAGE_MAX

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from holdfast.clock import Deadline

Verb: TypeAlias = Literal["put", "get", "head", "list", "delete"]
VERBS: tuple[Verb, ...] = ("put", "get", "head", "list", "delete")
_DELETE_KEYS_MAX = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceTable:
    """US dollars per 1,000 requests; traffic and storage are not in it."""

    name: str
    as_of: str
    per_thousand: Mapping[Verb, float]


S3_STANDARD = PriceTable(
    name="S3 Standard, us-east-1",
    as_of="2026-10",
    per_thousand={"put": 0.005, "list": 0.005, "get": 0.0004, "head": 0.0004, "delete": 0.0},
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """A consistent cut of what was counted; two of them subtract."""

    requests: Mapping[Verb, int] = field(default_factory=lambda: dict.fromkeys(VERBS, 0))
    bytes_sent: int = 0
    bytes_received: int = 0

    @property
    def total(self) -> int:
        return sum(self.requests.values())

    def price(self, table: PriceTable = S3_STANDARD) -> float:
        """US dollars for these requests."""
        return sum(count * table.per_thousand[verb] for verb, count in self.requests.items()) / 1000

    def __sub__(self, earlier: Usage) -> Usage:
        return Usage(
            requests={verb: self.requests[verb] - earlier.requests[verb] for verb in VERBS},
            bytes_sent=self.bytes_sent - earlier.bytes_sent,
            bytes_received=self.bytes_received - earlier.bytes_received,
        )


class Meter:
    """Adds up usage from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._usage = Usage()

    def add(self, verb: Verb, *, count: int = 1, sent: int = 0, received: int = 0) -> None:
        with self._lock:
            old = self._usage
            self._usage = Usage(
                requests={**old.requests, verb: old.requests[verb] + count},
                bytes_sent=old.bytes_sent + sent,
                bytes_received=old.bytes_received + received,
            )

    def usage(self) -> Usage:
        return self._usage


class MeteredStore:
    """Any store, counted; a request that fails counts too, for the store may bill it."""

    def __init__(self, inner: ObjectStore, meter: Meter | None = None) -> None:
        self._inner = inner
        self.meter = meter or Meter()

    @property
    def url(self) -> str:
        return self._inner.url

    @property
    def can_presign(self) -> bool:
        return self._inner.can_presign

    @property
    def inner(self) -> ObjectStore:
        return self._inner

    def within(self, deadline: Deadline) -> MeteredStore:
        """The same store and meter, every request of which ends by this deadline."""
        return MeteredStore(within(self._inner, deadline), self.meter)

    def put(self, key: str, body: Body, *, mode: PutMode = PutMode.OVERWRITE) -> ObjectMeta:
        self.meter.add("put", sent=len(body))
        return self._inner.put(key, body, mode=mode)

    def get(self, key: str, *, start: int = 0, length: int | None = None) -> Blob:
        self.meter.add("get")
        blob = self._inner.get(key, start=start, length=length)
        self.meter.add("get", count=0, received=len(blob.body))
        return blob

    def head(self, key: str) -> ObjectMeta:
        self.meter.add("head")
        return self._inner.head(key)

    def list(self, prefix: str = "", *, start_after: str = "", limit: int = LIST_PAGE_MAX) -> Page:
        self.meter.add("list")
        return self._inner.list(prefix, start_after=start_after, limit=limit)

    def delete(self, keys: Iterable[str]) -> None:
        wanted = tuple(keys)
        self.meter.add("delete", count=-(-len(wanted) // _DELETE_KEYS_MAX))
        self._inner.delete(wanted)

    def presign(
        self, method: Literal["GET", "PUT"], key: str, *, expires_s: int = 300, sha256: str = ""
    ) -> Presigned:
        return self._inner.presign(method, key, expires_s=expires_s, sha256=sha256)
