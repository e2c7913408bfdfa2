"""Sinks that take each batch once: replays, failures, and a stop in the middle of a gate."""

from __future__ import annotations

import sqlite3
import threading
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import StreamingQueryException

import holdfast
from holdfast.chain import ChainWriter
from holdfast.errors import UnavailableError
from tests.spark.orders import counts_by_sku, write_orders
from tests.spark.queries import (
    count_writer,
    counted,
    ledger,
    make_tables,
    read_counts,
    read_doubled,
    run_to_end,
    write_counts,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

LOCATION = "holdfast:///orders"
VALIDATION = "spark.sql.streaming.stateStore.commitValidation.enabled"
PROVIDER = "spark.sql.streaming.stateStore.providerClass"
PACKAGE = "org.apache.spark.sql.execution.streaming.state"


@pytest.fixture
def database(tmp_path: Path) -> str:
    make_tables(str(tmp_path / "sink.db"))
    return str(tmp_path / "sink.db")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_orders(tmp_path / "orders", files=3)
    return tmp_path / "orders"


@pytest.fixture
def break_commit(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Let the record of one batch fail, once, after its sink has committed."""

    def set_up(batch: int) -> None:
        whole = ChainWriter.commit
        broken: list[int] = []

        def commit(self: ChainWriter, number: int, *args: Any, **more: Any) -> Any:
            if number == batch and not broken:
                broken.append(number)
                raise UnavailableError("the store does not answer")
            return whole(self, number, *args, **more)

        monkeypatch.setattr(ChainWriter, "commit", commit)

    return set_up


def outcomes(spark_store: str) -> list[str]:
    """What each batch's manifest says of its sink."""
    chain = holdfast.Chain(holdfast.open_store(spark_store), "orders")
    notes = [each.entry.record.notes for each in chain.history() if each.entry]
    return [note["sinks"]["sink"]["outcome"] for note in notes if note.get("sinks")]


@pytest.mark.parametrize("provider", ["HDFSBackedStateStoreProvider", "RocksDBStateStoreProvider"])
@pytest.mark.parametrize("validation", ["true", "false"])
def test_a_batch_that_its_sink_has_is_not_written_again(
    spark: SparkSession,
    folder: Path,
    database: str,
    store: str,
    break_commit: Callable[[int], None],
    provider: str,
    validation: str,
) -> None:
    """Its plan still runs, for its state is committed only then, and the query goes on."""
    spark.conf.set(PROVIDER, f"{PACKAGE}.{provider}")
    spark.conf.set(VALIDATION, validation)
    break_commit(1)
    with pytest.raises(StreamingQueryException, match="UnavailableError"):
        run_to_end(count_writer(spark, str(folder), database, LOCATION))
    run_to_end(count_writer(spark, str(folder), database, LOCATION))
    assert read_counts(database) == counts_by_sku(folder)
    assert read_doubled(database) == []
    kinds = outcomes(store)
    assert [kinds[0], kinds[-2], kinds[-1]] == ["proven", "replayed", "proven"]


def test_without_a_ledger_a_replay_in_the_same_process_is_skipped(
    spark: SparkSession, folder: Path, break_commit: Callable[[int], None]
) -> None:
    """This process knows that the sink has the batch; another one would not."""
    written: list[int] = []

    def write(df: DataFrame, batch_id: int) -> None:
        written.append(batch_id)
        df.count()

    sink = holdfast.at_least_once(write)
    writer = counted(spark, str(folder)).writeStream.outputMode("update").foreachBatch(sink)
    located = writer.option("checkpointLocation", LOCATION)
    break_commit(1)
    with pytest.raises(StreamingQueryException):
        run_to_end(located)
    run_to_end(located)
    assert written == [0, 1, 2]


def test_a_sink_that_fails_stops_the_query_and_its_words_are_kept(
    spark: SparkSession, folder: Path, database: str, store: str
) -> None:
    """Rows and receipt are taken back together; the next run's manifest has the message."""
    calls: list[int] = []

    def write(df: DataFrame, batch_id: int, txn: Any) -> None:
        write_counts(df, batch_id, txn)
        calls.append(batch_id)
        if calls == [0, 1]:
            raise RuntimeError("the sink is out of coffee")

    def run() -> None:
        sink = holdfast.exactly_once(write, ledger(database))
        writer = counted(spark, str(folder)).writeStream.outputMode("update").foreachBatch(sink)
        run_to_end(writer.option("checkpointLocation", LOCATION))

    with pytest.raises(StreamingQueryException, match="out of coffee"):
        run()
    assert "out of coffee" in holdfast.status("orders").message
    run()
    assert calls == [0, 1, 1, 2]
    chain = holdfast.Chain(holdfast.open_store(store), "orders")
    records = [each.entry.record for each in chain.history() if each.entry]
    notes = next(record.notes for record in reversed(records) if record.batch == 1)
    assert notes["sinks"]["sink"]["failed"] == "RuntimeError: the sink is out of coffee"
    assert read_counts(database) == counts_by_sku(folder)
    assert read_doubled(database) == []


def test_a_receipt_of_another_plan_is_an_error(
    spark: SparkSession, folder: Path, database: str
) -> None:
    """Neither skipped nor written: somebody else's rows are under this key."""
    with sqlite3.connect(database) as connection:
        connection.execute(
            "CREATE TABLE holdfast_ledger (query TEXT, sink TEXT, lineage INTEGER, batch INTEGER, "
            "plan TEXT, written_ms INTEGER, PRIMARY KEY (query, sink, lineage, batch))"
        )
        connection.execute("INSERT INTO holdfast_ledger VALUES ('orders','sink',0,0,'other',0)")
    with pytest.raises(StreamingQueryException, match="written from another plan"):
        run_to_end(count_writer(spark, str(folder), database, LOCATION))
    assert read_counts(database) == {}


def test_a_connection_that_commits_by_itself_is_refused(
    spark: SparkSession, folder: Path, database: str
) -> None:
    """It cannot keep rows and receipt together."""
    loose = holdfast.DatabaseLedger(lambda: sqlite3.connect(database, isolation_level=None))
    sink = holdfast.exactly_once(write_counts, loose)
    writer = counted(spark, str(folder)).writeStream.outputMode("update").foreachBatch(sink)
    with pytest.raises(StreamingQueryException, match="commits every statement by itself"):
        run_to_end(writer.option("checkpointLocation", LOCATION))


def test_a_stop_in_the_middle_of_a_gate_leaves_everything_sound(
    spark: SparkSession, folder: Path, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The commit that is under way finishes; the next start goes on after it."""
    inside, go_on = threading.Event(), threading.Event()
    whole = ChainWriter.commit

    def commit(self: ChainWriter, batch: int, *args: Any, **more: Any) -> Any:
        if batch == 1 and not go_on.is_set():
            inside.set()
            go_on.wait(30)
        return whole(self, batch, *args, **more)

    monkeypatch.setattr(ChainWriter, "commit", commit)
    query = count_writer(spark, str(folder), database, LOCATION).start()
    assert inside.wait(60)
    stopper = threading.Thread(target=query.stop)
    stopper.start()
    stopper.join(1)
    go_on.set()
    stopper.join(60)
    assert query.exception() is None
    assert holdfast.status(query).batch == 1
    run_to_end(count_writer(spark, str(folder), database, LOCATION))
    assert read_counts(database) == counts_by_sku(folder)
    assert read_doubled(database) == []


def test_positions_of_sources_ride_in_the_batchs_manifest(
    spark: SparkSession, folder: Path, break_commit: Callable[[int], None]
) -> None:
    """Staged inside `foreachBatch`, they are visible with the checkpoint, or not at all."""
    seen: list[tuple[int, int | None]] = []

    def write(df: DataFrame, batch_id: int) -> None:
        sources = holdfast.batch_sources(df)
        before = sources.read_checkpoint("erp")
        seen.append((batch_id, before.sequence if before else None))
        with sources.session():
            sources.stage_checkpoint("erp", 100 + batch_id, f"at-{batch_id}".encode())
        df.write.format("noop").mode("overwrite").save()

    writer = counted(spark, str(folder)).writeStream.outputMode("update").foreachBatch(write)
    located = writer.option("checkpointLocation", LOCATION)
    break_commit(1)
    with pytest.raises(StreamingQueryException):
        run_to_end(located)
    run_to_end(located)
    assert seen == [(0, None), (1, 100), (1, 100), (2, 101)]
