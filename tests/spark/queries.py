"""Queries over orders, by name; each is what a user would write."""

from __future__ import annotations

import sqlite3
import time
from typing import TYPE_CHECKING, Any

import holdfast
from tests.spark.orders import SCHEMA

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter


def orders_stream(spark: SparkSession, folder: str, *, files_per_batch: int = 1) -> DataFrame:
    """One batch per file, so that a test knows how many batches there are."""
    reader = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", files_per_batch)
    return reader.json(folder)


def counted(spark: SparkSession, folder: str) -> DataFrame:
    """The stateful count of the benchmarks."""
    return orders_stream(spark, folder).groupBy("sku").count()


def make_tables(database: str) -> None:
    """The sink's tables: counts that are replaced, and rows that are only added."""
    with sqlite3.connect(database) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS counts (sku TEXT PRIMARY KEY, n INTEGER)")
        connection.execute("CREATE TABLE IF NOT EXISTS seen (sku TEXT, n INTEGER, batch INTEGER)")
        connection.execute("PRAGMA journal_mode=WAL")


def write_counts(df: DataFrame, batch_id: int, txn: Any) -> None:
    """Replace the counts, and only add to what was seen: a batch can be there twice."""
    rows = [(row["sku"], row["count"]) for row in df.collect()]
    txn.executemany("INSERT OR REPLACE INTO counts VALUES (?, ?)", rows)
    txn.executemany("INSERT INTO seen VALUES (?, ?, ?)", [(*row, batch_id) for row in rows])


def ledger(database: str) -> holdfast.DatabaseLedger:
    return holdfast.DatabaseLedger(lambda: sqlite3.connect(database, timeout=30))


def count_writer(
    spark: SparkSession, folder: str, database: str, location: str, *, delay_s: float = 0
) -> DataStreamWriter:
    """Counts by SKU and one row per order, exactly once into SQLite; a batch can be made slow."""

    def write(df: DataFrame, batch_id: int, txn: Any) -> None:
        write_counts(df, batch_id, txn)
        time.sleep(delay_s)

    sink = holdfast.exactly_once(write, ledger(database))
    return (
        counted(spark, folder)
        .writeStream.outputMode("update")
        .foreachBatch(sink)
        .option("checkpointLocation", location)
    )


def run_to_end(writer: DataStreamWriter) -> StreamingQuery:
    """Everything that is there, then stop."""
    query = writer.trigger(availableNow=True).start()
    query.awaitTermination()
    return query


def read_counts(database: str) -> dict[str, int]:
    with sqlite3.connect(database) as connection:
        return dict(connection.execute("SELECT sku, n FROM counts"))


def read_doubled(database: str) -> list[tuple[str, int, int]]:
    """What reached the sink more than once: SKU, batch, and how often."""
    with sqlite3.connect(database) as connection:
        return connection.execute(
            "SELECT sku, batch, COUNT(*) FROM seen GROUP BY sku, batch HAVING COUNT(*) > 1"
        ).fetchall()
