"""Spark's own view of a query, added to its status: progress, and why it ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql.streaming.listener import StreamingQueryListener

if TYPE_CHECKING:
    from pyspark.sql.streaming.listener import (
        QueryIdleEvent,
        QueryProgressEvent,
        QueryStartedEvent,
        QueryTerminatedEvent,
    )

    from holdfast.spark.host import Host


class StatusListener(StreamingQueryListener):
    """Called by Spark's listener bus, after the fact; nothing is decided here."""

    def __init__(self, host: Host) -> None:
        self._host = host

    def onQueryStarted(self, event: QueryStartedEvent) -> None:  # noqa: N802 - Spark's name
        """Spark calls this while the query starts: nothing may wait here."""

    def onQueryProgress(self, event: QueryProgressEvent) -> None:  # noqa: N802 - Spark's name
        progress = event.progress
        record = self._host.record_of(str(progress.id))
        if record is not None:
            record.progressed(
                name=progress.name or "",
                rows=progress.numInputRows,
                batch_ms=progress.durationMs.get("triggerExecution", 0),
            )

    def onQueryIdle(self, event: QueryIdleEvent) -> None:  # noqa: N802 - Spark's name
        """No batch, no checkpoint."""

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:  # noqa: N802 - Spark's name
        record = self._host.record_of(str(event.id))
        if record is not None:
            record.terminated(str(event.runId), event.exception or "")
