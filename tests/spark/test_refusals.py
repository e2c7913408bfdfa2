"""What cannot work is refused at its first touch, with a sentence that says what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import StreamingQueryException

import holdfast
from tests.spark.orders import write_orders
from tests.spark.queries import counted, orders_stream, run_to_end

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter


def writer(
    spark: SparkSession, tmp_path: Path, location: str = "holdfast:///q"
) -> DataStreamWriter:
    write_orders(tmp_path / "orders", files=1)
    made = counted(spark, str(tmp_path / "orders")).writeStream.outputMode("update")
    return made.format("noop").option("checkpointLocation", location)


def rates(spark: SparkSession) -> DataStreamWriter:
    stream = spark.readStream.format("rate").load()
    return stream.writeStream.format("console").option("checkpointLocation", "holdfast:///q")


def test_a_store_that_is_not_set_is_named_with_the_line_to_add(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Never a driver's scratch disk by default."""
    with pytest.raises(
        Exception, match=r'no store is set.*add \.config\("spark\.holdfast\.store\.p'
    ):
        writer(spark, tmp_path, "holdfast://prod/q").start()


def test_an_unknown_setting_is_told_with_the_nearest_one(spark: SparkSession) -> None:
    """At `enable`, before anything runs."""
    spark.conf.set("spark.holdfast.retian", "5")
    with pytest.raises(holdfast.ConfigError, match=r"did you mean spark\.holdfast\.retain"):
        holdfast.enable(spark)


def test_a_wrong_value_is_told_with_what_it_means(spark: SparkSession) -> None:
    """With its default."""
    spark.conf.set("spark.holdfast.largeFileBytes", "much")
    with pytest.raises(holdfast.ConfigError, match=r"largeFileBytes` value=`much`.*default is 1m"):
        holdfast.enable(spark)


def test_a_foreign_checkpoint_manager_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    """The abortable one swallows the error of a failed commit."""
    manager = "org.apache.spark.internal.io.cloud.AbortableStreamBasedCheckpointFileManager"
    spark.conf.set("spark.sql.streaming.checkpointFileManagerClass", manager)
    with pytest.raises(Exception, match=r"checkpointFileManagerClass|Unable to load|ClassNotFound"):
        writer(spark, tmp_path).start()


def test_asynchronous_progress_tracking_is_refused(spark: SparkSession) -> None:
    """Its offsets are written after the batch has run, or not at all."""
    query = rates(spark).option("asyncProgressTrackingEnabled", "true").start()
    with pytest.raises(StreamingQueryException, match="asynchronous progress tracking writes off"):
        query.awaitTermination(30)


def test_continuous_processing_is_refused(spark: SparkSession) -> None:
    """Its offsets are written after the rows were processed."""
    query = rates(spark).trigger(continuous="1 second").start()
    with pytest.raises(StreamingQueryException, match="continuous processing writes offsets after"):
        query.awaitTermination(30)


def test_real_time_mode_is_refused(spark: SparkSession) -> None:
    """Its offsets are written after the batch has run."""
    real_time: Any = {"realTime": "5 minutes"}  # which PySpark's own types do not know
    query = rates(spark).outputMode("update").trigger(**real_time).start()
    with pytest.raises(StreamingQueryException, match="real-time mode writes offsets after"):
        query.awaitTermination(30)


@pytest.mark.parametrize(
    ("name", "query"),
    [
        ("with spaces", "with spaces"),
        ("größe/日本語", "größe/日本語"),
        ("up/../and-down", "and-down"),
        ("100%", "100%"),
    ],
)
def test_names_that_people_give_work(
    spark: SparkSession, tmp_path: Path, name: str, query: str
) -> None:
    """Spaces, other alphabets, dots; a restart finds them again."""
    for batch in range(2):
        write_orders(tmp_path / "orders", files=1, first=batch)
        made = orders_stream(spark, str(tmp_path / "orders")).writeStream.format("noop")
        done = run_to_end(made.option("checkpointLocation", f"holdfast:///{name}"))
        assert holdfast.status(done).query == query
        assert holdfast.status(done).batch == batch


@pytest.mark.parametrize("name", ["x" * 300, ".holdfast/q", "q/offsets"])
def test_names_that_cannot_be_keys_are_refused(
    spark: SparkSession, tmp_path: Path, name: str
) -> None:
    """With the reason."""
    with pytest.raises(Exception, match=r"1 to 200 bytes|is reserved|no query has its checkpoint"):
        writer(spark, tmp_path, f"holdfast:///{name}").start()


def test_a_query_below_another_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    """Whether the other one runs or not."""
    run_to_end(writer(spark, tmp_path, "holdfast:///outer"))
    with pytest.raises(Exception, match="lies inside that of another"):
        writer(spark, tmp_path, "holdfast:///outer/inner").start()


def test_a_store_that_is_a_file_is_told(spark: SparkSession, tmp_path: Path) -> None:
    """Not a stack trace."""
    (tmp_path / "file").write_text("no directory")
    spark.conf.set("spark.holdfast.store", (tmp_path / "file").as_uri())
    holdfast.enable(spark)
    with pytest.raises(Exception, match="the store's path is a file, not a directory"):
        writer(spark, tmp_path).start()


def test_reading_what_is_not_there_claims_nothing(spark: SparkSession, tmp_path: Path) -> None:
    """A typing error in a reader's path makes no query."""
    with pytest.raises(Exception, match=r"."):
        spark.read.format("statestore").load("holdfast:///typo").collect()
    store: Any = holdfast.open_store((tmp_path / "store").as_uri())
    assert list(holdfast.scan(store, "typo")) == []


def test_a_sink_outside_of_holdfast_is_told(spark: SparkSession, tmp_path: Path) -> None:
    """`exactly_once` needs the checkpoint."""
    write_orders(tmp_path / "orders", files=1)
    sink = holdfast.exactly_once(lambda df, batch_id, txn: None)
    made = orders_stream(spark, str(tmp_path / "orders")).writeStream.foreachBatch(sink)
    query = made.option("checkpointLocation", str(tmp_path / "stock")).start()
    with pytest.raises(StreamingQueryException, match="does not keep its checkpoint on holdfast:"):
        query.awaitTermination(30)
