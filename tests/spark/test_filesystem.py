"""The scheme `holdfast:` keeps Hadoop's contract, through FileSystem and through FileContext."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from py4j.protocol import Py4JJavaError

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

    def test_the_checkpoint_itself_is_not_deleted_through_the_filesystem(
        self, files: Files
    ) -> None:
        """`holdfast rm` does that."""
        with pytest.raises(Py4JJavaError, match="holdfast rm"):
            files.fs.delete(files.path(""), True)

    def test_a_query_inside_another_is_refused(self, files: Files) -> None:
        """Its gates would not be seen."""
        with pytest.raises(Py4JJavaError, match="lies inside that of another"):
            files.write("nested/offsets/0", b"v1")
