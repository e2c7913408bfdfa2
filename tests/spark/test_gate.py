"""The gate: a batch whose record cannot be written is not committed, and the query says why."""

from __future__ import annotations

import contextlib
import os
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import StreamingQueryException

import holdfast
from tests.spark.orders import counts_by_sku, write_orders
from tests.spark.queries import count_writer, make_tables, read_counts, read_doubled, run_to_end

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

LOCATION = "holdfast:///orders"


class Job:
    """The count over orders, stopped by a fault and started again."""

    def __init__(self, spark: SparkSession, tmp_path: Path) -> None:
        self.spark, self.folder = spark, tmp_path / "orders"
        self.database = str(tmp_path / "sink.db")
        make_tables(self.database)

    def run(self) -> None:
        run_to_end(count_writer(self.spark, str(self.folder), self.database, LOCATION))

    def start(self) -> StreamingQuery:
        """A run that goes on, with all that is there already processed."""
        query = count_writer(self.spark, str(self.folder), self.database, LOCATION).start()
        query.processAllAvailable()
        return query

    def fail(self, query: StreamingQuery) -> str:
        """What the query says when it stops."""
        with pytest.raises(StreamingQueryException) as failed:
            query.awaitTermination(60)
        return str(failed.value)

    def committed(self) -> list[str]:
        """What Spark sees under `commits` after the failure."""
        jvm: Any = self.spark.sparkContext._jvm
        path = jvm.org.apache.hadoop.fs.Path(f"{LOCATION}/commits")
        files = path.getFileSystem(self.spark.sparkContext._jsc.hadoopConfiguration())
        return [status.getPath().getName() for status in files.listStatus(path)]

    def require_exact(self) -> None:
        assert read_counts(self.database) == counts_by_sku(self.folder)
        assert read_doubled(self.database) == []


def fill(path: Path) -> None:
    """Take all the room that is left."""
    with contextlib.suppress(OSError), path.open("wb", buffering=0) as file:
        while file.write(bytes(4096)):
            pass


@pytest.fixture
def job(spark: SparkSession, tmp_path: Path) -> Job:
    return Job(spark, tmp_path)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of one megabyte."""
    if os.geteuid() != 0:
        pytest.skip("mounting a small disk needs root; CI has it")
    folder = tmp_path / "disk"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(folder)], check=True)
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_stops_the_query_at_its_batch(
    spark: SparkSession, job: Job, small_disk: Path
) -> None:
    """The local store's disk is full: `commits/N` is absent; with room again it resumes at N."""
    spark.conf.set("spark.holdfast.store", (small_disk / "store").as_uri())
    holdfast.enable(spark)
    write_orders(job.folder, files=2)
    query = job.start()
    ballast = small_disk / "ballast"
    fill(ballast)
    write_orders(job.folder, files=1, first=2)
    text = job.fail(query)
    assert "StoreError: the operating system refuses" in text
    assert "free some space on the store's disk" in text
    ballast.unlink()
    assert job.committed() == ["0", "1"]
    job.run()
    assert job.committed() == ["0", "1", "2"]
    job.require_exact()


def test_a_store_that_is_read_only_is_told_at_the_start(
    spark: SparkSession, job: Job, small_disk: Path
) -> None:
    """Nothing can be claimed there."""
    spark.conf.set("spark.holdfast.store", (small_disk / "store").as_uri())
    holdfast.enable(spark)
    write_orders(job.folder, files=1)
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    with pytest.raises(Exception, match="mounted read-only"):
        job.run()
