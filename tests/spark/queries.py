"""Queries over orders, by name; each is what a user would write."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import holdfast
from tests.spark import databases
from tests.spark.orders import SCHEMA

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter


def orders_stream(spark: SparkSession, folder: str, *, files_per_batch: int = 1) -> DataFrame:
    """One batch per file, so that a test knows how many batches there are."""
    reader = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", files_per_batch)
    return reader.json(folder)


def counted(spark: SparkSession, folder: str, *, files_per_batch: int = 1) -> DataFrame:
    """The stateful count of the benchmarks."""
    return orders_stream(spark, folder, files_per_batch=files_per_batch).groupBy("sku").count()


def make_tables(database: str) -> None:
    """The sink's tables: counts that are replaced, and rows that are only added."""
    with databases.opened(database) as connection:
        run = connection.cursor().execute
        run("CREATE TABLE IF NOT EXISTS counts (sku TEXT PRIMARY KEY, n BIGINT)")
        run("CREATE TABLE IF NOT EXISTS seen (sku TEXT, n BIGINT, batch BIGINT)")
        run("CREATE TABLE IF NOT EXISTS orders (id BIGINT, batch BIGINT)")


def write_counts(df: DataFrame, batch_id: int, txn: Any) -> None:
    """Replace the counts, and only add to what was seen: a batch can be there twice."""
    rows = [(row["sku"], row["count"]) for row in df.collect()]
    mark = databases.mark(txn.connection)
    txn.executemany(
        f"INSERT INTO counts VALUES ({mark}, {mark}) "
        "ON CONFLICT (sku) DO UPDATE SET n = excluded.n",
        rows,
    )
    txn.executemany(
        f"INSERT INTO seen VALUES ({mark}, {mark}, {mark})", [(*row, batch_id) for row in rows]
    )


def write_orders_seen(df: DataFrame, batch_id: int, txn: Any) -> None:
    """Every order, only added: one can be there twice."""
    rows = [(row["id"], batch_id) for row in df.collect()]
    mark = databases.mark(txn.connection)
    txn.executemany(f"INSERT INTO orders VALUES ({mark}, {mark})", rows)


def ledger(database: str) -> holdfast.DatabaseLedger:
    return holdfast.DatabaseLedger(lambda: databases.connect(database))


def count_writer(
    spark: SparkSession,
    folder: str,
    database: str,
    location: str,
    *,
    delay_s: float = 0,
    files_per_batch: int = 1,
) -> DataStreamWriter:
    """Counts by SKU, exactly once into a database; a batch can be made slow."""

    def write(df: DataFrame, batch_id: int, txn: Any) -> None:
        write_counts(df, batch_id, txn)
        time.sleep(delay_s)

    sink = holdfast.exactly_once(write, ledger(database))
    return (
        counted(spark, folder, files_per_batch=files_per_batch)
        .writeStream.outputMode("update")
        .foreachBatch(sink)
        .option("checkpointLocation", location)
    )


def run_to_end(writer: DataStreamWriter) -> StreamingQuery:
    """Everything that is there, then stop."""
    query = writer.trigger(availableNow=True).start()
    query.awaitTermination()
    return query


def orders_writer(
    spark: SparkSession, folder: str, database: str, location: str, *, files_per_batch: int = 1
) -> DataStreamWriter:
    """One row per order, exactly once into a database."""
    return (
        orders_stream(spark, folder, files_per_batch=files_per_batch)
        .writeStream.foreachBatch(holdfast.exactly_once(write_orders_seen, ledger(database)))
        .option("checkpointLocation", location)
    )


def read_counts(database: str) -> dict[str, int]:
    return dict(databases.rows(database, "SELECT sku, n FROM counts"))


def read_doubled(database: str) -> list[tuple[Any, ...]]:
    """What reached the sink more than once: SKU, batch, and how often."""
    return databases.rows(
        database,
        "SELECT sku, batch, COUNT(*) FROM seen GROUP BY sku, batch HAVING COUNT(*) > 1",
    )


def read_orders(database: str) -> list[int]:
    """The number of every order that reached the sink, in order, as often as it did."""
    return [row[0] for row in databases.rows(database, "SELECT id FROM orders ORDER BY id")]
