"""A Delta table as an exactly-once sink, on a Spark that Delta runs on; run by `tests.lines`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql import SparkSession

import holdfast
from holdfast.chain import ChainWriter
from holdfast.errors import UnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable

CATALOG = "org.apache.spark.sql.delta.catalog.DeltaCatalog"
DELTA = "io.delta:delta-spark_2.13:4.1.0"


def main(folder: Path) -> None:
    builder = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.jars.packages", DELTA)
        .config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
        .config(
            "spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog"
        )
        .config("spark.databricks.delta.snapshotPartitions", "2")
    )
    spark = holdfast.session(builder, store=(folder / "store").as_uri())
    spark.sparkContext.setLogLevel("ERROR")
    orders, table = folder / "orders", str(folder / "table")
    orders.mkdir()
    for number in range(3):
        (orders / f"{number}.json").write_text(json.dumps({"id": number}))
    break_once()
    text = failure_of(lambda: run(spark, orders, table))
    assert "UnavailableError" in text, text
    run(spark, orders, table)
    ids = sorted(row["id"] for row in spark.read.format("delta").load(table).collect())
    assert ids == [0, 1, 2], ids
    chain = holdfast.Chain(holdfast.open_store((folder / "store").as_uri()), "orders")
    notes = [each.entry.record.notes for each in chain.history() if each.entry]
    outcomes = [note["sinks"]["sink"]["outcome"] for note in notes if note.get("sinks")]
    assert outcomes[-2:] == ["replayed", "proven"], outcomes
    print("Delta: a batch that its commit lost is there once")


def run(spark: SparkSession, orders: Path, table: str) -> None:
    def write(df: Any, batch_id: int, txn: Any) -> None:
        df.write.format("delta").options(**txn.options).mode("append").save(table)

    stream = spark.readStream.schema("id long").option("maxFilesPerTrigger", 1).json(str(orders))
    sink = holdfast.exactly_once(write, holdfast.DeltaLedger(table))
    writer = stream.writeStream.foreachBatch(sink).trigger(availableNow=True)
    query = writer.option("checkpointLocation", "holdfast:///orders").start()
    query.awaitTermination()


def failure_of(work: Callable[[], None]) -> str:
    """What it fails with; nothing if it does not."""
    try:
        work()
    except Exception as error:
        return str(error)
    return ""


def break_once() -> None:
    """Let the manifest of batch 1 fail after Delta has committed."""
    whole = ChainWriter.commit
    broken: list[int] = []

    def commit(self: ChainWriter, batch: int, *args: Any, **more: Any) -> Any:
        if batch == 1 and not broken:
            broken.append(batch)
            raise UnavailableError("the store does not answer")
        return whole(self, batch, *args, **more)

    setattr(ChainWriter, "commit", commit)  # noqa: B010 - mypy forbids the plain form


if __name__ == "__main__":
    main(Path(sys.argv[1]))
