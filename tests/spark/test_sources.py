"""Sources and triggers: each goes on after a restart where it was."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql.datasource import DataSource, SimpleDataSourceStreamReader

import holdfast
from tests.spark import operators
from tests.spark.orders import counts_by_sku, write_orders

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

LOCATION = "holdfast:///query"
ROWS = 5
_SECONDS_MAX = 60


class Numbers(DataSource):
    """Five numbers a batch."""

    @classmethod
    def name(cls) -> str:
        return "numbers"

    def schema(self) -> str:
        return "value bigint"

    def simpleStreamReader(self, schema: Any) -> SimpleDataSourceStreamReader:  # noqa: N802 - Spark's name
        del schema
        return NumbersReader()


class NumbersReader(SimpleDataSourceStreamReader):
    def initialOffset(self) -> dict[str, int]:  # noqa: N802 - Spark's name
        return {"next": 0}

    def read(self, start: dict[str, int]) -> tuple[Iterator[tuple[int]], dict[str, int]]:
        end = start["next"] + ROWS
        return _numbers(start["next"], end), {"next": end}

    def readBetweenOffsets(  # noqa: N802 - Spark's name
        self, start: dict[str, int], end: dict[str, int]
    ) -> Iterator[tuple[int]]:
        return _numbers(start["next"], end["next"])


def _numbers(first: int, last: int) -> Iterator[tuple[int]]:
    return iter([(number,) for number in range(first, last)])


def run_past(df: DataFrame, seen: dict[int, list[int]], batch: int) -> None:
    """Start, and stop once this batch is committed."""

    def collect(rows: DataFrame, batch_id: int) -> None:
        seen[batch_id] = sorted(row["value"] for row in rows.collect())

    query = df.writeStream.foreachBatch(collect).option("checkpointLocation", LOCATION).start()
    end = time.monotonic() + _SECONDS_MAX
    while holdfast.status(query).batch < batch:
        assert query.exception() is None
        assert time.monotonic() < end
        time.sleep(0.05)
    query.stop()


@pytest.mark.parametrize("source", ["rate", "rate-micro-batch", "numbers"])
def test_a_source_goes_on_without_a_gap_or_a_repeat(spark: SparkSession, source: str) -> None:
    """Spark's rate sources, and a data source in Python."""
    spark.dataSource.register(Numbers)
    reader = spark.readStream.format(source)
    if source != "numbers":
        reader = reader.option("rowsPerSecond" if source == "rate" else "rowsPerBatch", "20")
    seen: dict[int, list[int]] = {}
    for batch in (2, 5):
        run_past(reader.load(), seen, batch)
    values = [value for batch in sorted(seen) for value in seen[batch]]
    assert values == list(range(len(values)))
    assert len(values) > 3


@pytest.mark.filterwarnings("ignore:Trigger.Once")
@pytest.mark.parametrize(
    "trigger", [{"processingTime": "100 milliseconds"}, {"availableNow": True}, {"once": True}]
)
def test_a_trigger_of_any_kind_goes_on(
    spark: SparkSession, tmp_path: Path, trigger: dict[str, Any]
) -> None:
    """With a restart in between."""
    folder, counts = tmp_path / "orders", dict[str, int]()

    def keep(df: DataFrame, batch_id: int) -> None:
        counts.update({row["sku"]: row["n"] for row in df.collect()})

    for first in (0, 2):
        write_orders(folder, files=2, first=first)
        df = operators.aggregation(spark, str(folder))
        writer = df.writeStream.outputMode("update").foreachBatch(keep).trigger(**trigger)
        query = writer.option("checkpointLocation", LOCATION).start()
        query.processAllAvailable() if "processingTime" in trigger else query.awaitTermination()
        query.stop()
    assert counts == counts_by_sku(folder)
