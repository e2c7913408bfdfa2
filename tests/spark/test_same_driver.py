"""Several runs in one driver, and a query that moves between drivers: always what is current."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import holdfast
from holdfast.chain import NewFile
from tests.spark.orders import counts_by_sku, write_orders
from tests.spark.queries import (
    count_writer,
    counted,
    make_tables,
    read_counts,
    read_doubled,
    run_to_end,
)
from tests.trust import trusted

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tests.spark.processes import Child

LOCATION = "holdfast:///orders"


@pytest.fixture
def database(tmp_path: Path) -> str:
    make_tables(str(tmp_path / "sink.db"))
    return str(tmp_path / "sink.db")


def state_of(spark: SparkSession, location: str = LOCATION) -> dict[str, int]:
    """The counts as the state reader shows them."""
    rows = spark.read.format("statestore").load(location).collect()
    return {row["key"]["sku"]: row["value"]["count"] for row in rows}


def test_two_queries_in_one_driver_do_not_mix(
    spark: SparkSession, tmp_path: Path, database: str
) -> None:
    """Each has its chain, its spool and its status."""
    folder = tmp_path / "orders"
    write_orders(folder, files=3)
    first = count_writer(spark, str(folder), database, LOCATION).start()
    other = counted(spark, str(folder)).writeStream.outputMode("update").format("noop")
    second = other.option("checkpointLocation", "holdfast:///deep/er/other").start()
    first.processAllAvailable()
    second.processAllAvailable()
    assert holdfast.status(first).query == "orders"
    assert holdfast.status(second).query == "deep/er/other"
    assert state_of(spark) == state_of(spark, "holdfast:///deep/er/other") == counts_by_sku(folder)


def test_a_query_is_stopped_and_started_again(
    spark: SparkSession, tmp_path: Path, database: str
) -> None:
    """Each start claims again, and goes on where the last one stopped."""
    folder = tmp_path / "orders"
    for run in range(3):
        write_orders(folder, files=2, first=2 * run)
        query = count_writer(spark, str(folder), database, LOCATION).start()
        query.processAllAvailable()
        query.stop()
        assert holdfast.status(query).batch == 2 * run + 1
    assert read_counts(database) == counts_by_sku(folder)
    assert read_doubled(database) == []


@pytest.mark.parametrize("stop_active", ["true", "false"])
def test_a_second_start_of_a_running_query_does_not_fence_it(
    spark: SparkSession, tmp_path: Path, database: str, stop_active: str
) -> None:
    """It shares the claim; which of the two runs is Spark's to settle."""
    folder = tmp_path / "orders"
    write_orders(folder, files=2)
    spark.conf.set("spark.sql.streaming.stopActiveRunOnRestart", stop_active)
    running = count_writer(spark, str(folder), database, LOCATION).start()
    running.processAllAvailable()
    claim = holdfast.status(running).claim
    second = count_writer(spark, str(folder), database, LOCATION)
    if stop_active == "false":
        with pytest.raises(Exception, match="already active"):
            second.start()
    else:
        running = second.start()
    write_orders(folder, files=2, first=2)
    running.processAllAvailable()
    assert holdfast.status(running).claim == claim
    assert holdfast.status(running).batch == 3
    assert read_counts(database) == counts_by_sku(folder)
    assert read_doubled(database) == []


def test_a_start_on_a_store_without_a_verdict_certifies_it(
    spark: SparkSession, tmp_path: Path, database: str
) -> None:
    """Once for all its queries."""
    spark.conf.set("spark.holdfast.store", (tmp_path / "unknown").as_uri())
    holdfast.enable(spark)
    write_orders(tmp_path / "orders", files=1)
    run_to_end(count_writer(spark, str(tmp_path / "orders"), database, LOCATION))
    verdict = (tmp_path / "unknown" / ".holdfast" / "certificate.json").read_text()
    assert '"verdict": "certified"' in verdict


def test_a_start_that_fails_leaves_nothing_behind(
    spark: SparkSession, tmp_path: Path, database: str
) -> None:
    """Spark claims before it finds that a plan cannot run; the next start claims anew."""
    folder = tmp_path / "orders"
    write_orders(folder, files=1)
    unsupported = counted(spark, str(folder)).writeStream.outputMode("append").format("noop")
    with pytest.raises(Exception, match="Invalid streaming output mode"):
        unsupported.option("checkpointLocation", LOCATION).start()
    assert (holdfast.status("orders").claim, holdfast.status("orders").run_id) == (1, "")
    run_to_end(count_writer(spark, str(folder), database, LOCATION))
    assert read_counts(database) == counts_by_sku(folder)
    assert holdfast.status("orders").claim == 2


def test_a_query_goes_to_another_driver_and_comes_back(
    spark: SparkSession, tmp_path: Path, database: str, store: str, child: Callable[..., Child]
) -> None:
    """Never a stale catalog: neither for the next start nor for a reader."""
    folder = tmp_path / "orders"
    job: dict[str, Any] = {"folder": str(folder), "database": database, "location": LOCATION}
    with child() as other:
        other.start(store)
        for turn in range(2):
            write_orders(folder, files=2, first=4 * turn)
            run_to_end(count_writer(spark, str(folder), database, LOCATION))
            assert state_of(spark) == counts_by_sku(folder)
            write_orders(folder, files=2, first=4 * turn + 2)
            other.call("finish_count", **job)
            assert state_of(spark) == counts_by_sku(folder)
    assert read_counts(database) == counts_by_sku(folder)
    assert read_doubled(database) == []


def test_state_and_its_metadata_can_be_read(
    spark: SparkSession, tmp_path: Path, database: str
) -> None:
    """While the query runs and after it; reading claims nothing."""
    folder = tmp_path / "orders"
    write_orders(folder, files=2)
    query = count_writer(spark, str(folder), database, LOCATION).start()
    query.processAllAvailable()
    assert state_of(spark) == counts_by_sku(folder)
    query.stop()
    metadata = spark.read.format("state-metadata").load(LOCATION).collect()
    assert [row["operatorName"] for row in metadata] == ["stateStoreSave"]
    assert state_of(spark) == counts_by_sku(folder)
    chain = holdfast.Chain(holdfast.open_store(holdfast.status(query).store), "orders")
    kinds = [each.entry.record.kind.value for each in chain.history() if each.entry]
    assert kinds == ["claim", "commit", "commit"]


def test_another_store_has_other_queries(spark: SparkSession, tmp_path: Path) -> None:
    """Of the same name and as many checkpoints, read a moment later in the same session."""
    found = []
    for store in ("first", "second"):
        url = trusted((tmp_path / store).as_uri())
        chain = holdfast.Chain(holdfast.open_store(url), "orders")
        writer = chain.claim()
        writer.intent(0, [NewFile(path="offsets/0", mtime_ms=1, body=store.encode())])
        writer.commit(0, [NewFile(path="commits/0", mtime_ms=1, body=b"v1")])
        spark.conf.set("spark.holdfast.store", url)
        holdfast.enable(spark)
        read = spark.read.format("binaryFile").load(f"{LOCATION}/offsets/0").collect()
        found.append(bytes(read[0]["content"]))
    assert found == [b"first", b"second"]
