"""`status().error` says what stopped a query: nothing after an ordinary stop, else its cause."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql.functions import udf

import holdfast
from tests.spark.orders import write_orders
from tests.spark.processes import wait_until
from tests.spark.queries import orders_stream

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    Wrap = Callable[[Callable[[DataFrame, int], None]], Any]

LOCATION = "holdfast:///orders"
SINKS = pytest.mark.parametrize(
    "wrap", [lambda fn: fn, holdfast.at_least_once], ids=["plain sink", "sink of holdfast"]
)


@pytest.fixture
def orders(spark: SparkSession, tmp_path: Path) -> DataFrame:
    write_orders(tmp_path / "orders", files=2)
    return orders_stream(spark, str(tmp_path / "orders"))


def start(writer: DataStreamWriter, **trigger: Any) -> StreamingQuery:
    writer = writer.trigger(**trigger) if trigger else writer
    return writer.option("checkpointLocation", LOCATION).start()


def failed(query: StreamingQuery) -> tuple[str, str]:
    """The error and the message once the query has failed; by its name they are the same."""
    with pytest.raises(StreamingQueryException):
        query.awaitTermination(60)
    status = holdfast.status(query)
    assert not status.active
    named = holdfast.status("orders")
    assert (named.error, named.message) == (status.error, status.message)
    return status.error, status.message


@SINKS
def test_a_stop_in_the_middle_of_a_batch_is_no_error(
    spark: SparkSession, orders: DataFrame, wrap: Wrap
) -> None:
    """The sink's call is interrupted, and Spark takes that for what it is."""
    called = threading.Event()

    def wait_long(df: DataFrame, batch: int) -> None:
        del df, batch
        called.set()
        spark.sparkContext.parallelize([0], 1).foreach(_sleep)

    query = start(orders.writeStream.foreachBatch(wrap(wait_long)))
    assert called.wait(60)
    wait_until(lambda: bool(spark.sparkContext.statusTracker().getActiveJobsIds()), "the job")
    query.stop()
    status = holdfast.status(query)
    assert (status.error, status.message, status.active) == ("", "", False)
    assert holdfast.status("orders").error == ""


@SINKS
def test_an_error_of_the_users_code_has_its_own_name(orders: DataFrame, wrap: Wrap) -> None:
    """Not that of the Java exception which carries it; of its text the first line."""

    def fail(df: DataFrame, batch: int) -> None:
        del df, batch
        raise LookupError("out of coffee\nand of tea")

    query = start(orders.writeStream.foreachBatch(wrap(fail)))
    assert failed(query) == ("LookupError", "out of coffee")


def test_an_error_of_a_udf_has_its_own_name(orders: DataFrame) -> None:
    """It was raised in a worker of an executor."""
    broken = udf(lambda sku: int(f"no {sku}"), "int")
    query = start(orders.select(broken("sku")).writeStream.format("noop"))
    error, message = failed(query)
    assert error == "ValueError"
    assert message.startswith("invalid literal for int() with base 10: 'no ")


def test_an_error_of_sparks_own_has_the_class_of_its_root_cause(orders: DataFrame) -> None:
    """Here a task fails for good."""
    query = start(orders.selectExpr("raise_error('bad row')").writeStream.format("noop"))
    error, message = failed(query)
    assert error in ("SparkRuntimeException", "RuntimeException")
    assert "bad row" in message


def test_an_error_of_holdfast_has_its_own_type(
    spark: SparkSession, orders: DataFrame, store: str, tmp_path: Path
) -> None:
    """Another driver has taken the query over."""
    query = start(orders.writeStream.format("noop"))
    query.processAllAvailable()
    holdfast.Chain(holdfast.open_store(store), "orders").claim()
    write_orders(tmp_path / "orders", files=1, first=2)
    error, message = failed(query)
    assert error == "FencedError"
    assert message.startswith("another writer has taken this query over")
    assert holdfast.status(query).fenced


def test_a_query_that_came_to_its_end_has_no_error(orders: DataFrame) -> None:
    """All input is in."""
    query = start(orders.writeStream.format("noop"), availableNow=True)
    query.awaitTermination(60)
    status = holdfast.status(query)
    assert (status.error, status.message, status.active) == ("", "", False)
    assert status.batch == 1


def test_the_next_run_has_a_clean_sheet(orders: DataFrame) -> None:
    """What stopped the run before is not its error."""

    def fail(df: DataFrame, batch: int) -> None:
        del df, batch
        raise LookupError("once")

    failed(start(orders.writeStream.foreachBatch(fail)))
    query = start(orders.writeStream.foreachBatch(lambda df, batch: None), availableNow=True)
    query.awaitTermination(60)
    assert holdfast.status(query).error == ""


def _sleep(_: int) -> None:
    threading.Event().wait(120)
