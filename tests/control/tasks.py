"""What the drivers of the control do: one stateful count, on Spark's own manager or on Holdfast."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql import SparkSession

from tests.spark import databases, queries

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.readwriter import DataStreamWriter


def run_to_end(folder: str, database: str, location: str) -> dict[str, Any]:
    """Everything that is there: the batches that Spark reports as done, and what stopped it."""
    spark = SparkSession.builder.getOrCreate()
    is_ours = location.startswith("holdfast:")
    make = queries.count_writer if is_ours else _plain_writer
    query = make(spark, folder, database, location).trigger(availableNow=True).start()
    try:
        query.awaitTermination()
    except Exception as error:  # noqa: BLE001 - what stopped it is the answer
        return {"batches": _reported(query), "error": str(error)}
    return {"batches": _reported(query), "error": ""}


def _plain_writer(
    spark: SparkSession, folder: str, database: str, location: str
) -> DataStreamWriter:
    """The same count without Holdfast; the sink replaces, so a batch may come twice."""

    def write(df: DataFrame, batch: int) -> None:
        with databases.opened(database) as connection:
            queries.write_counts(df, batch, _Plain(connection))

    counted = queries.counted(spark, folder).writeStream.outputMode("update")
    return counted.foreachBatch(write).option("checkpointLocation", location)


class _Plain:
    """A connection in the place of a ledger's transaction."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection

    def executemany(self, sql: str, rows: list[tuple[Any, ...]]) -> None:
        self.connection.cursor().executemany(sql, rows)


def _reported(query: Any) -> list[int]:
    return sorted({each["batchId"] for each in query.recentProgress if each["numInputRows"]})
