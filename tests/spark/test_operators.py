"""Every kind of query works on `holdfast:`, goes on after a restart, and gives the exact answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import holdfast
from tests.spark import operators
from tests.spark.orders import all_orders, counts_by_sku, write_orders

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

HDFS: dict[str, str] = {}
ROCKS = {
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    )
}
CHANGELOG = {
    **ROCKS,
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
}
VERSION_2 = {**CHANGELOG, "spark.sql.streaming.stateStore.checkpointFormatVersion": "2"}
SMALL_SNAPSHOTS = {"spark.sql.streaming.stateStore.minDeltasForSnapshot": "2"}


def run_twice(
    spark: SparkSession, build: operators.Build, folder: Path, mode: str
) -> list[dict[str, Any]]:
    """Half of the files, a restart that reads everything from the store, the other half."""
    rows: list[dict[str, Any]] = []

    def collect(df: DataFrame, batch_id: int) -> None:
        rows.extend(row.asDict() for row in df.collect())

    for first in (0, 3):
        write_orders(folder, files=3, first=first)
        writer = build(spark, str(folder)).writeStream.outputMode(mode).foreachBatch(collect)
        located = writer.option("checkpointLocation", "holdfast:///query")
        query = located.trigger(availableNow=True).start()
        query.awaitTermination()
        assert holdfast.status(query).batch == first + 2 or mode == "append"
    return rows


def last_by_sku(rows: list[dict[str, Any]], column: str) -> dict[str, int]:
    return {row["sku"]: row[column] for row in rows}


@pytest.mark.parametrize(
    "conf", [HDFS, ROCKS, CHANGELOG, VERSION_2], ids=["hdfs", "rocks", "changelog", "v2"]
)
@pytest.mark.parametrize("mode", ["update", "complete"])
def test_an_aggregation_is_exact_on_every_state_store(
    spark: SparkSession, tmp_path: Path, conf: dict[str, str], mode: str
) -> None:
    """HDFS-backed and RocksDB, with and without changelog, checkpoint format 1 and 2."""
    for key, value in {**conf, **SMALL_SNAPSHOTS}.items():
        spark.conf.set(key, value)
    rows = run_twice(spark, operators.aggregation, tmp_path / "orders", mode)
    assert last_by_sku(rows, "n") == counts_by_sku(tmp_path / "orders")


def test_a_stateless_query_passes_each_row_once(spark: SparkSession, tmp_path: Path) -> None:
    """No state, two requests a batch all the same."""
    rows = run_twice(spark, operators.stateless, tmp_path / "orders", "append")
    expected = [
        order["id"] for order in all_orders(tmp_path / "orders") if int(str(order["amount"])) >= 50
    ]
    assert sorted(row["id"] for row in rows) == sorted(map(int, map(str, expected)))


@pytest.mark.parametrize("conf", [HDFS, VERSION_2], ids=["hdfs", "v2"])
def test_a_deduplication_remembers_over_a_restart(
    spark: SparkSession, tmp_path: Path, conf: dict[str, str]
) -> None:
    """Each SKU comes out once, in the batch that saw it first."""
    for key, value in conf.items():
        spark.conf.set(key, value)
    rows = run_twice(spark, operators.deduplication, tmp_path / "orders", "append")
    assert sorted(row["sku"] for row in rows) == sorted(counts_by_sku(tmp_path / "orders"))


@pytest.mark.parametrize("conf", [HDFS, CHANGELOG], ids=["hdfs", "changelog"])
def test_a_join_of_two_streams_finds_every_pair(
    spark: SparkSession, tmp_path: Path, conf: dict[str, str]
) -> None:
    """Four state stores per partition, in directories one level deeper."""
    for key, value in conf.items():
        spark.conf.set(key, value)
    rows = run_twice(spark, operators.join, tmp_path / "orders", "append")
    ids = {int(str(order["id"])) for order in all_orders(tmp_path / "orders")}
    assert sorted(row["id"] for row in rows) == sorted(each for each in ids if each + 1 in ids)


@pytest.mark.parametrize("build", [operators.windows, operators.sessions])
def test_windows_come_out_once_when_the_watermark_has_passed(
    spark: SparkSession, tmp_path: Path, build: operators.Build
) -> None:
    """Append mode: no window twice, and those that are out hold whole counts."""
    rows = run_twice(spark, build, tmp_path / "orders", "append")
    keys = [(row["start"], row["sku"]) for row in rows]
    assert len(keys) == len(set(keys))
    assert 0 < sum(row["count"] for row in rows) < len(all_orders(tmp_path / "orders"))


def test_state_in_pandas_goes_on(spark: SparkSession, tmp_path: Path) -> None:
    """`applyInPandasWithState`."""
    rows = run_twice(spark, operators.pandas_state, tmp_path / "orders", "update")
    assert last_by_sku(rows, "n") == counts_by_sku(tmp_path / "orders")


@pytest.mark.parametrize(
    "build", [operators.transform_with_state, operators.transform_with_state_in_pandas]
)
def test_transform_with_state_goes_on(
    spark: SparkSession, tmp_path: Path, build: operators.Build
) -> None:
    """Spark's own provider class only, which is why Holdfast is a filesystem."""
    for key, value in CHANGELOG.items():
        spark.conf.set(key, value)
    rows = run_twice(spark, build, tmp_path / "orders", "update")
    assert last_by_sku(rows, "n") == counts_by_sku(tmp_path / "orders")
