"""The scheme `holdfast:` keeps Hadoop's contract, through FileSystem and through FileContext."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import holdfast
from tests.spark.contract import ROOT, Files, FilesystemContract
from tests.spark.orders import write_orders
from tests.spark.queries import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession


@pytest.fixture(scope="module")
def files(_session: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Files]:
    """One query for all of them, on a store of its own name."""
    folder = tmp_path_factory.mktemp("contract")
    _session.conf.set("spark.holdfast.store.contract", (folder / "store").as_uri())
    holdfast.enable(_session)
    write_orders(folder / "orders", files=1)
    writer = counted(_session, str(folder / "orders")).writeStream.outputMode("update")
    query = writer.format("noop").option("checkpointLocation", ROOT).start()
    query.processAllAvailable()
    context = _session.sparkContext
    yield Files(context._gateway, context._jsc.hadoopConfiguration())
    query.stop()


class TestOnTheDriver(FilesystemContract):
    """In the JVM that Python started."""
