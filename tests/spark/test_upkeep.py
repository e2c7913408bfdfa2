"""Upkeep: a query that runs for long holds a bounded number of files, objects and bytes."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

import holdfast
from tests.spark.orders import counts_by_sku, write_orders
from tests.spark.queries import make_tables, read_counts

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.spark.processes import Child

LOCATION = "holdfast:///orders"
CONF = {
    "spark.sql.streaming.minBatchesToRetain": "3",
    "spark.sql.streaming.stateStore.minDeltasForSnapshot": "5",
    "spark.sql.streaming.stateStore.maintenanceInterval": "500ms",
    "spark.sql.streaming.fileSource.log.cleanupDelay": "1s",
    "spark.sql.streaming.fileSource.log.compactInterval": "5",
    "spark.ui.retainedJobs": "10",  # what Spark itself keeps of past batches
    "spark.ui.retainedStages": "10",
    "spark.ui.retainedTasks": "100",
    "spark.sql.ui.retainedExecutions": "10",
    "spark.holdfast.retain": "10",
    "spark.holdfast.fullEvery": "16",
    "spark.holdfast.spool.maxBytes": "1m",
}


def live_objects(pid: int) -> dict[str, int]:
    """Our objects in a JVM's heap, and all bytes in it; it collects garbage first."""
    command = ["jcmd", str(pid), "GC.class_histogram"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    rows = [line.split() for line in printed.splitlines()]
    ours = [int(row[1]) for row in rows if len(row) > 3 and row[3].startswith("holdfast.")]
    total = next(row for row in rows if row and row[0] == "Total")
    return {"our_objects": sum(ours), "heap": int(total[2])}


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_300_batches_hold_no_more_than_100(
    child: Callable[..., Child], store: str, tmp_path: Path
) -> None:
    """Live files, store objects, spool and heap, counted at both; all that is retained is whole."""
    folder, database = tmp_path / "orders", str(tmp_path / "sink.db")
    make_tables(database)
    spool = tmp_path / "spool"
    held: list[dict[str, int]] = []
    with child() as driver:
        driver.start(store, **CONF, **{"spark.holdfast.spool.dir": str(spool)})
        write_orders(folder, files=1, rows=5)
        driver.call("start_count", folder=str(folder), database=database, location=LOCATION)
        for first, last in ((1, 100), (100, 300)):
            write_orders(folder, files=last - first, rows=5, first=first)
            driver.call("wait_for_batch", location=LOCATION, batch=last - 1, seconds=400)
            driver.call("settle", seconds=3)
            figures = live_objects(driver.jvm_pid)
            figures["live_files"] = driver.call("status", name="orders")["live_files"]
            figures["objects"] = len(list(holdfast.scan(holdfast.open_store(store))))
            figures["spool"] = sum(path.stat().st_size for path in spool.rglob("*"))
            held.append(figures)
        driver.call("stop", location=LOCATION)
    early, late = held
    assert late["live_files"] <= early["live_files"] + 20
    assert late["objects"] <= early["objects"] + 40
    assert late["spool"] <= 2_000_000
    assert late["our_objects"] <= early["our_objects"] + 100
    assert late["heap"] <= early["heap"] + 30_000_000
    assert read_counts(database) == counts_by_sku(folder)
    chain = holdfast.Chain(holdfast.open_store(store), "orders")
    numbers = [
        each.number for each in chain.history() if each.entry and each.entry.record.batch >= 0
    ]
    assert 10 <= len(numbers) <= 60
    assert all(chain.validate(number).valid for number in numbers[-10:])
