"""How the bench measures: the best of separate loops, peaks of memory, rounds of requests."""

from __future__ import annotations

import gc
import math
import threading
import time
import tracemalloc
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from holdfast.objectstore import Blob, MemoryStore, Meter, MeteredStore, ObjectMeta, Page, PutMode
from holdfast.settings import LIST_PAGE_MAX

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

REPEATS = 60
LATENCY_S = 0.05


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One line of the table: what was measured, beside what is required."""

    name: str
    measured: float
    required: float
    relation: Literal["at most", "at least", "exactly"]
    unit: str = ""

    @property
    def holds(self) -> bool:
        if self.relation == "exactly":
            return self.measured == self.required
        if self.relation == "at most":
            return self.measured <= self.required
        return self.measured >= self.required


def seconds(call: Callable[[], Any]) -> float:
    """The best of many calls: what it costs when nothing else disturbs.

    Each kind of call has a loop of its own. Two kinds in one loop would measure whose memory the
    allocator has just given back.
    """
    call()
    gc.collect()
    best = math.inf
    for _ in range(REPEATS):
        started = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - started)
    return best


def peak_bytes(call: Callable[[], Any]) -> int:
    """How much a call allocates at its worst moment, beyond what was there before."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


class RoundsStore(MeteredStore):
    """Memory behind a network, which counts the requests that had to wait for one another.

    A request is one round later than the latest that was answered when it began. Answers take so
    long that all requests of a round have begun by then.
    """

    def __init__(self, inner: MemoryStore) -> None:
        super().__init__(inner, Meter())
        self._latency_s = 0.0
        self._lock = threading.Lock()
        self._answered = 0

    def put(self, key: str, body: Any, *, mode: PutMode = PutMode.OVERWRITE) -> ObjectMeta:
        self._wait()
        return super().put(key, body, mode=mode)

    def get(self, key: str, *, start: int = 0, length: int | None = None) -> Blob:
        self._wait()
        return super().get(key, start=start, length=length)

    def head(self, key: str) -> ObjectMeta:
        self._wait()
        return super().head(key)

    def list(self, prefix: str = "", *, start_after: str = "", limit: int = LIST_PAGE_MAX) -> Page:
        self._wait()
        return super().list(prefix, start_after=start_after, limit=limit)

    def delete(self, keys: Iterable[str]) -> None:
        self._wait()
        super().delete(keys)

    def _wait(self) -> None:
        with self._lock:
            round_ = self._answered + 1
        time.sleep(self._latency_s)
        with self._lock:
            self._answered = max(self._answered, round_)

    def rounds(self, call: Callable[[], Any]) -> int:
        """Rounds of requests that a call takes."""
        self._latency_s, self._answered = LATENCY_S, 0
        try:
            call()
            return self._answered
        finally:
            self._latency_s = 0.0
