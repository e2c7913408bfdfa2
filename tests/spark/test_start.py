"""`holdfast.start`: a query that was changed does not go on from another query's state."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import holdfast
from tests.spark.orders import counts_by_sku, write_orders
from tests.spark.queries import orders_stream

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_orders(tmp_path / "orders", files=2)
    return tmp_path / "orders"


def writer(df: DataFrame) -> DataStreamWriter:
    made = df.writeStream.outputMode("update").format("noop")
    return made.trigger(availableNow=True)


def by_sku(spark: SparkSession, folder: Path) -> DataFrame:
    return orders_stream(spark, str(folder)).groupBy("sku").count()


def large_by_sku(spark: SparkSession, folder: Path) -> DataFrame:
    return orders_stream(spark, str(folder)).where("amount > 50").groupBy("sku").count()


def test_the_same_query_goes_on(spark: SparkSession, folder: Path) -> None:
    """However often its plan is built, its hash is the same."""
    for batch in (1, 3):
        query = holdfast.start(writer(by_sku(spark, folder)), "orders", config={"model": 7})
        query.awaitTermination()
        assert holdfast.status(query).batch == batch
        write_orders(folder, files=2, first=2)


def test_a_changed_plan_is_refused_and_the_difference_named(
    spark: SparkSession, folder: Path
) -> None:
    """`strict`, which is the default; nothing was claimed."""
    holdfast.start(writer(by_sku(spark, folder)), "orders").awaitTermination()
    claim = holdfast.status("orders").claim
    with pytest.raises(holdfast.ConfigMismatchError, match=r"plan\[.*amount"):
        holdfast.start(writer(large_by_sku(spark, folder)), "orders")
    assert holdfast.status("orders").claim == claim


@pytest.mark.parametrize("what", ["config", "partitions", "mode"])
def test_other_changes_are_named_too(spark: SparkSession, folder: Path, what: str) -> None:
    """What the user gave, the shuffle partitions, the output mode."""
    holdfast.start(writer(by_sku(spark, folder)), "orders", config={"model": 7}).awaitTermination()
    changed = writer(by_sku(spark, folder))
    config = {"model": 8 if what == "config" else 7}
    if what == "partitions":
        spark.conf.set("spark.sql.shuffle.partitions", "3")
    if what == "mode":
        changed = changed.outputMode("complete")
    names = {
        "config": r"config\.model: 7 → 8",
        "partitions": r'shuffle partitions: "2" → "3"',
        "mode": r"output mode: .*Update.* → .*Complete",
    }
    with pytest.raises(holdfast.ConfigMismatchError, match=names[what]):
        holdfast.start(changed, "holdfast:///orders", config=config)


def test_auto_reset_starts_anew_and_keeps_the_old_state(
    spark: SparkSession, folder: Path, store: str
) -> None:
    """Under a tag, from which one can come back."""
    holdfast.start(writer(by_sku(spark, folder)), "orders").awaitTermination()
    changed = writer(large_by_sku(spark, folder))
    query = holdfast.start(changed, "orders", on_config_change="auto-reset")
    query.awaitTermination()
    assert holdfast.status(query).batch == 1
    chain = holdfast.Chain(holdfast.open_store(store), "orders")
    (tag,) = chain.refs()
    assert tag.name.startswith("before-reset-")
    rows = spark.read.format("statestore").load("holdfast:///orders").collect()
    assert sum(row["value"]["count"] for row in rows) < sum(counts_by_sku(folder).values())
    chain.rollback(tag.name)
    rows = spark.read.format("statestore").load("holdfast:///orders").collect()
    assert {row["key"]["sku"]: row["value"]["count"] for row in rows} == counts_by_sku(folder)


def test_warn_goes_on(spark: SparkSession, folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    """And says what changed."""
    holdfast.start(writer(by_sku(spark, folder)), "orders", config={"v": 1}).awaitTermination()
    write_orders(folder, files=1, first=2)
    query = holdfast.start(
        writer(by_sku(spark, folder)), "orders", config={"v": 2}, on_config_change="warn"
    )
    query.awaitTermination()
    assert holdfast.status(query).batch == 2
    assert "config.v: 1 → 2" in caplog.text


def test_a_start_that_cannot_claim_raises_holdfasts_own_error(
    spark: SparkSession, store: str, folder: Path
) -> None:
    """Not the JVM's stack trace."""
    holdfast.open_store(store).put("orders/intents/intent-000002.json", b"a trace of what was")
    with pytest.raises(holdfast.CorruptionError, match="intents but no manifest"):
        holdfast.start(writer(by_sku(spark, folder)), "orders")
