"""Spark's own view of a query, added to its status: progress, and why it ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.spark.host import Host


class StatusListener:
    """Told by Spark's listener bus, after the fact; nothing is decided here."""

    def __init__(self, host: Host) -> None:
        self._host = host

    def progressed(self, progress: Mapping[str, Any]) -> None:
        """A batch is done; this is Spark's JSON of it."""
        record = self._host.record_of(progress["id"])
        if record is not None:
            record.progressed(
                name=progress.get("name") or "",
                rows=progress["numInputRows"],
                batch_ms=progress["durationMs"].get("triggerExecution", 0),
            )

    def terminated(self, query_id: str, run_id: str, trace: str) -> None:
        """A query has ended, with the stack trace of an error or without."""
        record = self._host.record_of(query_id)
        if record is not None:
            record.terminated(run_id, trace)
