"""Work that no batch waits for: hints, retention, and fetching ahead."""

from __future__ import annotations

import queue
import threading
from typing import TYPE_CHECKING, TypeAlias

from holdfast.errors import HoldfastError

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.manifest import ObjectRef
    from holdfast.spark.shown import Shown

    Work: TypeAlias = Callable[[], object]

_FETCHERS = 8
_CLOSE_SECONDS_MAX = 30


class Background:
    """One thread for upkeep, in order; a few that fetch."""

    def __init__(self) -> None:
        self._upkeep = _Workers("holdfast-upkeep", 1)
        self._fetchers = _Workers("holdfast-fetch", _FETCHERS)

    def submit(self, warn: Callable[[str], None], work: Work) -> None:
        """Do it some time; what goes wrong is a warning, for no batch depends on it."""

        def guarded() -> None:
            try:
                work()
            except HoldfastError as error:
                warn(f"upkeep of the chain failed, and is tried again later: {error}")
            except Exception as error:  # noqa: BLE001 - the thread serves every query
                warn(f"upkeep of the chain failed by a defect: {type(error).__name__}: {error}")

        self._upkeep.add(guarded)

    def fetch(self, shown: Shown, ref: ObjectRef) -> None:
        """Bring a pack into the spool; who waits for it meanwhile gets the error."""
        self._fetchers.add(lambda: shown.prefetch(ref))

    def close(self) -> None:
        """Finish the upkeep that was asked for, within reason."""
        self._fetchers.close(wait_s=0)
        self._upkeep.close(wait_s=_CLOSE_SECONDS_MAX)


class _Workers:
    """Daemon threads, made when they are needed.

    Not an executor of the standard library: those take no work while the process ends, and the
    JVM may call until then.
    """

    def __init__(self, name: str, count: int) -> None:
        self._name = name
        self._count = count
        self._queue: queue.SimpleQueue[Work | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()

    def add(self, work: Work) -> None:
        self._queue.put(work)
        with self._lock:
            if len(self._threads) < self._count:
                thread = threading.Thread(target=self._run, name=self._name, daemon=True)
                self._threads.append(thread)
                thread.start()

    def close(self, *, wait_s: float) -> None:
        with self._lock:
            for _ in self._threads:
                self._queue.put(None)
            for thread in self._threads:
                thread.join(wait_s)
            self._threads.clear()

    def _run(self) -> None:
        while (work := self._queue.get()) is not None:
            work()
