"""What a batcher has flushed so far."""

from __future__ import annotations

import threading
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchMetricsSnapshot:
    """A consistent cut: all five numbers are of the same moment.

    `bytes_before_compression` counts bodies, `bytes_after_compression` whole objects, and
    `put_count` also the puts that found their part taken.
    """

    batches_flushed: int = 0
    entries_flushed: int = 0
    bytes_before_compression: int = 0
    bytes_after_compression: int = 0
    put_count: int = 0


class BatchMetrics:
    """A shared handle; any thread may read it while the batcher works."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._now = BatchMetricsSnapshot()

    def snapshot(self) -> BatchMetricsSnapshot:
        return self._now

    def record_flush(self, *, entries: int, before: int, after: int, puts: int) -> None:
        """Count one flush that is durable."""
        with self._lock:
            old = self._now
            self._now = BatchMetricsSnapshot(
                batches_flushed=old.batches_flushed + 1,
                entries_flushed=old.entries_flushed + entries,
                bytes_before_compression=old.bytes_before_compression + before,
                bytes_after_compression=old.bytes_after_compression + after,
                put_count=old.put_count + puts,
            )
