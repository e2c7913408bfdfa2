"""What a driver of the chaos does in its own process: two queries, until one of them stops."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.spark import queries
from tests.spark.tasks import spark

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter

QUERIES = ("count", "orders")
_FILES_PER_BATCH, _FILES_PER_LAST_BATCH = 3, 30


def run_queries(folder: str, database: str, stop_file: str) -> str:
    """Until one stops, or the file is there; what it said."""
    Path(stop_file).unlink(missing_ok=True)
    running: list[StreamingQuery] = []
    try:
        running.extend(
            writer.trigger(processingTime="200 milliseconds").start()
            for writer in _writers(folder, database, _FILES_PER_BATCH)
        )
        while all(query.isActive for query in running) and not Path(stop_file).exists():
            time.sleep(0.05)
    finally:
        for query in running:
            query.stop()
    return "\n".join(str(query.exception()) for query in running if query.exception())


def finish_queries(folder: str, database: str) -> None:
    """Everything that is there, then stop."""
    for writer in _writers(folder, database, _FILES_PER_LAST_BATCH):
        queries.run_to_end(writer)


def _writers(folder: str, database: str, files_per_batch: int) -> list[DataStreamWriter]:
    some: dict[str, Any] = {"files_per_batch": files_per_batch}
    count, orders = (f"holdfast:///{name}" for name in QUERIES)
    return [
        queries.count_writer(spark(), folder, database, count, **some),
        queries.orders_writer(spark(), folder, database, orders, **some),
    ]
