"""The kinds of query that `holdfast.start` describes in tests, and what they are built of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamReader, DataStreamWriter

T = TypeVar("T")
SCHEMA = "id long, sku string, amount int, at timestamp"
SECRET = "hunter2"  # of an option of a source: no description may contain it


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What a query is built of; `pick` takes the second of two values where it is changed."""

    spark: SparkSession
    folder: Path
    changed: bool

    def pick(self, plain: T, changed: T) -> T:
        return changed if self.changed else plain

    def reader(self) -> DataStreamReader:
        reader = self.spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
        return reader.option("password", SECRET)

    def orders(self) -> DataFrame:
        return self.reader().json(str(self.folder / "orders"))

    def late_orders(self) -> DataFrame:
        return self.orders().withWatermark("at", self.pick("10 seconds", "20 seconds"))

    def payments(self) -> DataFrame:
        return self.reader().json(str(self.folder / "payments"))

    def prices(self) -> DataFrame:
        return self.spark.read.schema("sku string, price int").csv(str(self.folder / "prices"))

    def view(self) -> str:
        self.orders().createOrReplaceTempView("orders")
        return "orders"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    build: Callable[[Inputs], DataFrame | DataStreamWriter]
    since: tuple[int, int] = (3, 5)
    needs: str = ""


KINDS: dict[str, Kind] = {}


def kind(
    *, since: tuple[int, int] = (3, 5), needs: str = ""
) -> Callable[[Callable[[Inputs], Any]], Callable[[Inputs], Any]]:
    def keep(build: Callable[[Inputs], Any]) -> Callable[[Inputs], Any]:
        KINDS[build.__name__] = Kind(build=build, since=since, needs=needs)
        return build

    return keep
