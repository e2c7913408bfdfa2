"""Moving a query: in from Spark's own checkpoint, out again, cloned, tagged, rolled back."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import functions as f

import holdfast
from holdfast.moving import importing
from holdfast.moving.destination import UNFINISHED, Bucket
from holdfast.objectstore import LocalStore, open_store, scan
from tests.cli.support import holdfast as cli
from tests.moving.support import needed
from tests.spark import operators
from tests.spark.orders import counts_by_sku, write_orders
from tests.spark.processes import wait_until
from tests.spark.queries import orders_stream
from tests.spark.test_operators import CHANGELOG, HDFS, ROCKS, SMALL_SNAPSHOTS, VERSION_2
from tests.trust import trust

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter


class Job:
    """One query over a folder of orders; what it puts out is the last count of each SKU."""

    def __init__(self, spark: SparkSession, build: operators.Build, folder: Path) -> None:
        self._spark = spark
        self._build = build
        self.folder = folder
        self.files = 0
        self.fails_in = -1

    def arrive(self, files: int) -> None:
        """More input."""
        write_orders(self.folder, files=files, first=self.files)
        self.files += files

    def writer(self, location: str, counts: dict[str, int]) -> DataStreamWriter:
        def collect(df: DataFrame, batch_id: int) -> None:
            found = [(row["sku"], row["n"]) for row in df.collect()]
            if batch_id == self.fails_in:
                raise RuntimeError("the sink is down")
            counts.update(found)

        stream = self._build(self._spark, str(self.folder)).writeStream.outputMode("update")
        return stream.foreachBatch(collect).option("checkpointLocation", location)

    def run(self, location: str, counts: dict[str, int]) -> StreamingQuery:
        """Everything that is there, then stop."""
        query = self.writer(location, counts).trigger(availableNow=True).start()
        query.awaitTermination()
        return query

    def expected(self) -> dict[str, int]:
        return counts_by_sku(self.folder)


@pytest.fixture
def certified(store: str) -> str:
    """The test's store, with its verdict: racing writers is not what these tests are about."""
    trust(open_store(store))
    return store


def run_cli(*args: str, store: str) -> Any:
    ran = cli(*args, "--json", HOLDFAST_STORE=store)
    assert (ran.code, ran.err) == (0, ""), ran.out
    return ran.json()


def set_conf(spark: SparkSession, conf: dict[str, str]) -> None:
    for key, value in {**conf, **SMALL_SNAPSHOTS}.items():
        spark.conf.set(key, value)


@pytest.mark.parametrize(
    ("build", "conf"),
    [
        pytest.param(operators.aggregation, HDFS, id="hdfs"),
        pytest.param(operators.aggregation, ROCKS, id="rocks"),
        pytest.param(operators.transform_with_state, VERSION_2, id="transformWithState"),
    ],
)
def test_a_query_moves_in_goes_on_moves_out_and_goes_on(
    spark: SparkSession,
    certified: str,
    tmp_path: Path,
    build: operators.Build,
    conf: dict[str, str],
) -> None:
    """Spark's own disk, then `holdfast:`, then Spark's own disk elsewhere: always exact.

    What it leaves behind is taken away, so that nothing can be read there by mistake.
    """
    set_conf(spark, conf)
    job, counts = Job(spark, build, tmp_path / "orders"), dict[str, int]()
    first, moved, last = tmp_path / "first", tmp_path / "moved away", tmp_path / "last place"
    job.arrive(3)
    query_id = job.run(str(first), counts).id
    report = run_cli("import", str(first), "orders", store=certified)
    assert (report["batch"], report["query_id"]) == (2, query_id)
    first.rename(moved)

    job.arrive(2)
    query = job.run("holdfast:///orders", counts)
    assert (holdfast.status(query).batch, query.id, counts) == (4, query_id, job.expected())
    assert run_cli("export", "orders", str(last), store=certified)["batch"] == 4
    run_cli("rm", "orders", "--yes", store=certified)

    job.arrive(2)
    query = job.run(str(last), counts)
    batches = [each["batchId"] for each in query.recentProgress]
    assert (batches, query.id, counts) == ([5, 6], query_id, job.expected())


def test_a_batch_that_was_begun_runs_as_it_was_planned_wherever_it_is_moved(
    spark: SparkSession, certified: str, tmp_path: Path
) -> None:
    """In and out: it reads its one file, although more are there and a batch may take them all."""
    job, counts = Job(spark, operators.aggregation, tmp_path / "orders"), dict[str, int]()
    job.arrive(2)
    fail(job, str(tmp_path / "first"), counts, batch=1)
    report = run_cli("import", str(tmp_path / "first"), "orders", store=certified)
    assert (report["planned"], report["unfinished"]) == (1, 2)

    job.arrive(1)
    fail(job, "holdfast:///orders", counts, batch=2)
    assert run_cli("export", "orders", str(tmp_path / "last"), store=certified)["planned"] == 2

    job.arrive(2)
    everything = Job(spark, all_at_once, job.folder)
    progress = everything.run(str(tmp_path / "last"), counts).recentProgress
    assert [(each["batchId"], each["numInputRows"]) for each in progress] == [(2, 20), (3, 40)]
    assert counts == job.expected()


def fail(job: Job, location: str, counts: dict[str, int], *, batch: int) -> None:
    """Run until the sink fails in this batch, after its state was written."""
    job.fails_in = batch
    with pytest.raises(StreamingQueryException, match="the sink is down"):
        job.run(location, counts)


def all_at_once(spark: SparkSession, folder: str) -> DataFrame:
    """The same aggregation; a new batch takes all files that are there."""
    stream = orders_stream(spark, folder, files_per_batch=100)
    return stream.groupBy("sku").agg(f.count("*").alias("n"), f.sum("amount").alias("total"))


def test_spark_refuses_to_start_where_an_export_to_s3_was_cut_short(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Its `metadata` is no JSON until all the rest is there; nothing begins anew in silence."""
    job = Job(spark, operators.aggregation, tmp_path / "orders")
    job.arrive(1)
    half = LocalStore(tmp_path / "half")
    Bucket(half).prepare()
    with pytest.raises(Exception, match=r"(?i)json|token"):
        job.run(half.url, {})
    assert half.get("metadata").body == UNFINISHED


def test_a_clone_and_its_original_go_on_side_by_side(
    spark: SparkSession, certified: str, tmp_path: Path
) -> None:
    """Made while the original runs; each has its own id and reads its own schema files."""
    set_conf(spark, CHANGELOG)
    job = Job(spark, operators.transform_with_state, tmp_path / "orders")
    counts, copied = dict[str, int](), dict[str, int]()
    job.arrive(2)
    original = job.writer("holdfast:///orders", counts).start()
    wait_until(lambda: holdfast.status("orders").batch == 1, "the original")
    assert run_cli("clone", "orders", "a copy", store=certified)["batch"] == 1

    job.arrive(2)
    copy = job.run("holdfast:///a copy", copied)
    wait_until(lambda: holdfast.status("orders").batch == 3, "the original to go on")
    original.stop()
    assert (holdfast.status(copy).batch, copied, counts) == (3, job.expected(), job.expected())
    assert copy.id != original.id
    args = ("show", "a copy", "--cat", "state/0/_metadata/v2/0")
    assert '"holdfast:/a copy/state/0/_stateSchema/' in run_cli(*args, store=certified)["text"]


def test_a_rollback_to_a_tag_takes_state_back(
    spark: SparkSession, certified: str, tmp_path: Path
) -> None:
    """The batches after it run again, and nothing is counted twice."""
    set_conf(spark, CHANGELOG)
    job, counts = Job(spark, operators.transform_with_state, tmp_path / "orders"), dict[str, int]()
    job.arrive(2)
    job.run("holdfast:///orders", counts)
    run_cli("tag", "orders", "before", store=certified)
    job.arrive(2)
    job.run("holdfast:///orders", counts)
    report = run_cli("rollback", "orders", "--to", "before", "--yes", store=certified)
    assert (report["batch"], report["undone_to"]) == (1, 3)

    again = dict[str, int]()
    query = job.run("holdfast:///orders", again)
    assert [each["batchId"] for each in query.recentProgress] == [2, 3]
    assert (again, counts) == (job.expected(), job.expected())


@pytest.mark.s3
def test_a_checkpoint_on_s3_moves_to_a_store_on_s3_and_out_again(
    spark: SparkSession,
    s3_url: Callable[..., str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Tables of RocksDB as objects of their own; no S3A is here, so a copy is what Spark runs."""
    monkeypatch.setattr(importing, "LARGE_FILE_BYTES", 500)
    set_conf(spark, ROCKS)
    store, old, new = (s3_url(prefix=secrets.token_hex(6)) for _ in range(3))
    trust(open_store(store))
    spark.conf.set("spark.holdfast.store", store)
    holdfast.enable(spark)
    job, counts = Job(spark, operators.aggregation, tmp_path / "orders"), dict[str, int]()
    job.arrive(2)
    job.run(str(tmp_path / "old"), counts)
    for path, body in needed(tmp_path / "old").items():
        open_store(old).put(path, body)
    assert run_cli("import", old, "orders", store=store)["objects"] > 0

    job.arrive(2)
    job.run("holdfast:///orders", counts)
    assert counts == job.expected()
    last = tmp_path / "last"
    run_cli("export", "orders", new, "--location", last.as_uri(), store=store)
    for meta in scan(open_store(new)):
        (last / meta.key).parent.mkdir(parents=True, exist_ok=True)
        (last / meta.key).write_bytes(open_store(new).get(meta.key).body)

    job.arrive(1)
    job.run(str(last), counts)
    assert counts == job.expected()
