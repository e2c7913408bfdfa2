"""Every kind of operator that keeps state, as a query over orders whose output can be collected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import pandas as pd
from pyspark.sql import Row
from pyspark.sql import functions as f
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

from tests.spark.queries import orders_stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.stateful_processor import StatefulProcessorHandle

Build: TypeAlias = "Callable[[SparkSession, str], DataFrame]"


def stateless(spark: SparkSession, folder: str) -> DataFrame:
    return orders_stream(spark, folder).where("amount >= 50").select("id", "sku")


def aggregation(spark: SparkSession, folder: str) -> DataFrame:
    stream = orders_stream(spark, folder)
    return stream.groupBy("sku").agg(f.count("*").alias("n"), f.sum("amount").alias("total"))


def windows(spark: SparkSession, folder: str) -> DataFrame:
    """Append mode: a window is out when the watermark has passed it."""
    stream = orders_stream(spark, folder).withWatermark("at", "30 seconds")
    counts = stream.groupBy(f.window("at", "1 minute"), "sku").count()
    return counts.select(f.col("window.start").cast("long").alias("start"), "sku", "count")


def deduplication(spark: SparkSession, folder: str) -> DataFrame:
    return orders_stream(spark, folder).dropDuplicates(["sku"]).select("sku")


def join(spark: SparkSession, folder: str) -> DataFrame:
    """Each order with the one after it, from a second stream over the same files."""
    left = orders_stream(spark, folder).select("id", "sku")
    right = orders_stream(spark, folder).select((f.col("id") - 1).alias("id"), "amount")
    return left.join(right, "id")


def sessions(spark: SparkSession, folder: str) -> DataFrame:
    stream = orders_stream(spark, folder).withWatermark("at", "5 seconds")
    counts = stream.groupBy(f.session_window("at", "10 seconds"), "sku").count()
    return counts.select(f.col("session_window.start").cast("long").alias("start"), "sku", "count")


def pandas_state(spark: SparkSession, folder: str) -> DataFrame:
    def count(key: tuple[Any, ...], frames: Iterator[pd.DataFrame], state: Any) -> Iterator[Any]:
        seen = (state.get[0] if state.exists else 0) + sum(len(frame) for frame in frames)
        state.update((seen,))
        yield pd.DataFrame({"sku": [key[0]], "n": [seen]})

    groups = orders_stream(spark, folder).groupBy("sku")
    schema, state = "sku string, n long", "n long"
    return groups.applyInPandasWithState(count, schema, state, "update", "NoTimeout")


class CountRows(StatefulProcessor):
    """Counts and lists what it saw, in rows; used by both forms of `transformWithState`."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._count = handle.getValueState("count", "n long")
        self._last = handle.getListState("last", "id long")

    def _seen(self, ids: list[int]) -> int:
        before = (self._count.get() or (0,))[0]
        self._count.update((before + len(ids),))
        self._last.appendList([(each,) for each in ids])
        return int(before + len(ids))

    def close(self) -> None:
        """Nothing is held."""


class RowCounter(CountRows):
    def handleInputRows(self, key: Any, rows: Iterator[Row], timer_values: Any) -> Iterator[Row]:  # noqa: N802 - Spark's name
        yield Row(sku=key[0], n=self._seen([row["id"] for row in rows]))


class PandasCounter(CountRows):
    def handleInputRows(  # noqa: N802 - Spark's name
        self, key: Any, rows: Iterator[pd.DataFrame], timer_values: Any
    ) -> Iterator[pd.DataFrame]:
        ids = [int(each) for frame in rows for each in frame["id"]]
        yield pd.DataFrame({"sku": [key[0]], "n": [self._seen(ids)]})


def transform_with_state(spark: SparkSession, folder: str) -> DataFrame:
    groups = orders_stream(spark, folder).groupBy("sku")
    return groups.transformWithState(RowCounter(), "sku string, n long", "Update", "None")


def transform_with_state_in_pandas(spark: SparkSession, folder: str) -> DataFrame:
    groups = orders_stream(spark, folder).groupBy("sku")
    return groups.transformWithStateInPandas(
        PandasCounter(), "sku string, n long", "Update", "None"
    )
