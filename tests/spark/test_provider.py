"""The state-store provider: loads are told, and Holdfast's figures are in Spark's progress."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import holdfast
from tests.spark.orders import counts_by_sku, write_orders
from tests.spark.processes import wait_until
from tests.spark.queries import counted

if TYPE_CHECKING:
    from pathlib import Path

    import pytest
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

PROVIDER = "spark.sql.streaming.stateStore.providerClass"


def start(spark: SparkSession, folder: Path) -> StreamingQuery:
    writer = counted(spark, str(folder)).writeStream.outputMode("update").format("noop")
    query = writer.option("checkpointLocation", "holdfast:///orders").start()
    query.processAllAvailable()
    return query


def test_figures_are_in_the_progress_and_loads_in_the_status(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Over a restart: two partitions are loaded from the checkpoint, the rest is warm."""
    spark.conf.set(PROVIDER, "holdfast.HoldfastStateStoreProvider")
    folder = tmp_path / "orders"
    write_orders(folder, files=3)
    start(spark, folder).stop()
    write_orders(folder, files=2, first=3)
    query = start(spark, folder)
    last: Any = query.lastProgress
    metrics = last["stateOperators"][0]["customMetrics"]
    status = holdfast.status(query)
    assert metrics["holdfastCheckpoint"] == status.checkpoint
    assert metrics["holdfastRequests"] == status.requests > 4
    assert metrics["holdfastStateLoads"] == status.state_loads == 2
    assert metrics["rocksdbPutCount"] > 0
    rows = spark.read.format("statestore").load("holdfast:///orders").collect()
    assert {row["key"]["sku"]: row["value"]["count"] for row in rows} == counts_by_sku(folder)


def test_the_same_figures_are_a_metrics_source(
    spark: SparkSession, tmp_path: Path, metrics_folder: Path
) -> None:
    """Under the plugin's name in Spark's metrics system, by query."""
    write_orders(tmp_path / "orders", files=2)
    query = start(spark, tmp_path / "orders")

    def gauge(name: str) -> int:
        pattern = f"*.plugin.holdfast.HoldfastPlugin.orders.{name}.csv"
        lines = [path.read_text().splitlines() for path in metrics_folder.glob(pattern)]
        return int(lines[0][-1].split(",")[1]) if lines and len(lines[0]) > 1 else -1

    wait_until(lambda: gauge("checkpoint") == 3, "Spark to write its metrics")
    assert gauge("requests") == holdfast.status(query).requests


def test_a_checkpoint_is_one_line_that_a_person_can_read(
    spark: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Number, batch, files, bytes, requests, milliseconds; a start says what it goes on from."""
    write_orders(tmp_path / "orders", files=1)
    with caplog.at_level("INFO", logger="holdfast"):
        start(spark, tmp_path / "orders").stop()
        write_orders(tmp_path / "orders", files=1, first=1)
        start(spark, tmp_path / "orders")
    lines = [record.message for record in caplog.records if record.name == "holdfast"]
    assert lines[0].endswith("a new query")
    assert lines[1].startswith("orders: checkpoint 2 = batch 0: ")
    assert lines[1].endswith(" ms")
    assert "resumes from checkpoint 2, batch 0" in lines[2]
