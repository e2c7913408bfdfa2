"""Recovery under real queries: which checkpoint a start takes, why, and when it takes none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from py4j.protocol import Py4JJavaError

import holdfast
from tests.spark.orders import counts_by_sku, write_orders
from tests.spark.queries import counted, run_to_end

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

LOCATION = "holdfast:///orders"
ROCKS = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


def run(spark: SparkSession, folder: Path) -> StreamingQuery:
    writer = counted(spark, str(folder)).writeStream.outputMode("update").format("noop")
    return run_to_end(writer.option("checkpointLocation", LOCATION))


def state(spark: SparkSession) -> dict[str, int]:
    rows = spark.read.format("statestore").load(LOCATION).collect()
    return {row["key"]["sku"]: row["value"]["count"] for row in rows}


@pytest.mark.parametrize(
    ("settings", "pattern"),
    [
        ({}, "orders/manifests/manifest-*.json"),
        ({"spark.holdfast.inlineBytes": "0"}, "orders/checkpoints/state-*.bin"),
        ({"spark.holdfast.largeFileBytes": "500"}, "orders/checkpoints/files/*/*"),
    ],
    ids=["manifest", "pack", "large file"],
)
def test_a_damaged_newest_checkpoint_is_passed_over_and_the_report_says_so(
    spark: SparkSession, tmp_path: Path, settings: dict[str, str], pattern: str
) -> None:
    """The one before it is taken, its batch runs again, and the result is exact."""
    for key, value in settings.items():
        spark.conf.set(key, value)
    if "spark.holdfast.largeFileBytes" in settings:
        spark.conf.set("spark.sql.streaming.stateStore.providerClass", ROCKS)
    holdfast.enable(spark)
    folder = tmp_path / "orders"
    write_orders(folder, files=3)
    run(spark, folder)
    newest = max((tmp_path / "store").glob(pattern), key=lambda path: path.stat().st_mtime_ns)
    newest.write_bytes(newest.read_bytes()[:-1])
    query = run(spark, folder)
    report = holdfast.status(query).recovery
    assert report is not None
    assert report.chosen is not None
    assert report.skipped
    assert report.chosen < report.highest
    assert holdfast.status(query).batch == 2
    assert state(spark) == counts_by_sku(folder)


def test_a_start_over_a_missing_manifest_is_a_warning(spark: SparkSession, tmp_path: Path) -> None:
    """The claim fills its number, so the claim's own manifest keeps the reason."""
    folder = tmp_path / "orders"
    write_orders(folder, files=3)
    run(spark, folder)
    max((tmp_path / "store").glob("orders/manifests/manifest-*.json")).unlink()
    query = run(spark, folder)
    sentence = "its manifest is missing: latest.json names it"
    assert any(sentence in text for text in holdfast.status(query).warnings)
    assert holdfast.status(query).batch == 2
    assert state(spark) == counts_by_sku(folder)


def test_when_all_is_damaged_it_is_an_error_and_never_a_fresh_start(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Nothing was claimed or written."""
    write_orders(tmp_path / "orders", files=2)
    run(spark, tmp_path / "orders")
    manifests = list((tmp_path / "store" / "orders" / "manifests").glob("manifest-*.json"))
    for path in manifests:
        path.write_bytes(b"{}")
    with pytest.raises(Exception, match="CorruptionError: checkpoints exist, and none is valid"):
        run(spark, tmp_path / "orders")
    assert list((tmp_path / "store" / "orders" / "manifests").glob("manifest-*.json")) == manifests


def test_an_object_that_is_lost_while_it_is_read_is_not_absent_to_spark(
    spark: SparkSession, tmp_path: Path
) -> None:
    """FileNotFound means "no state yet" to Spark; a lost object is another error."""
    spark.conf.set("spark.holdfast.inlineBytes", "0")
    holdfast.enable(spark)
    write_orders(tmp_path / "orders", files=3)
    run(spark, tmp_path / "orders")
    jvm: Any = spark.sparkContext._jvm
    commits = jvm.org.apache.hadoop.fs.Path(f"{LOCATION}/commits")
    files = commits.getFileSystem(spark.sparkContext._jsc.hadoopConfiguration())
    assert len(files.listStatus(commits)) == 3  # from here on the checkpoint is shown
    for path in (tmp_path / "store" / "orders" / "checkpoints").glob("state-*.bin"):
        path.unlink()
    with pytest.raises(Py4JJavaError, match="CorruptionError: an object is missing") as lost:
        files.open(jvm.org.apache.hadoop.fs.Path(f"{LOCATION}/commits/1"))
    assert lost.value.java_exception.getClass().getName() == "holdfast.HoldfastException"


def test_a_clock_that_jumps_back_does_not_turn_times_back(
    spark: SparkSession, tmp_path: Path, store: str
) -> None:
    """Modification times go on from the newest that the checkpoint has, here of the year 2096."""
    folder, future = tmp_path / "orders", 4_000_000_000_000
    write_orders(folder, files=1)
    run(spark, folder)
    chain = holdfast.Chain(holdfast.open_store(store), "orders")
    plan = ("metadata", "offsets/0", "sources/0/0")
    bodies = chain.read(chain.recover().head, plan)
    later = holdfast.Chain(holdfast.open_store(store), "later")
    later.claim().intent(
        0, [holdfast.NewFile(path=path, mtime_ms=future, body=bodies[path]) for path in plan]
    )
    writer = counted(spark, str(folder)).writeStream.outputMode("update").format("noop")
    run_to_end(writer.option("checkpointLocation", "holdfast:///later"))
    files = later.recover().head.files
    assert files["commits/0"].mtime_ms > files["state/0/1/1.delta"].mtime_ms > future
