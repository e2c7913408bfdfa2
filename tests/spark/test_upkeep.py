"""Upkeep: a query that runs for long holds a bounded number of files, objects and bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
    "spark.sql.streaming.metricsEnabled": "false",
    "spark.holdfast.retain": "10",
    "spark.holdfast.fullEvery": "16",
    "spark.holdfast.spool.maxBytes": "1m",
}


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_300_batches_hold_no_more_than_100(
    child: Callable[..., Child], store: str, tmp_path: Path
) -> None:
    """Live files, store objects, spool and heap, counted at both; all that is retained is whole."""
    folder, database = tmp_path / "orders", str(tmp_path / "sink.db")
    make_tables(database)
    spool = tmp_path / "spool"
    held: list[dict[str, Any]] = []
    with child() as driver:
        driver.start(store, **CONF, **{"spark.holdfast.spool.dir": str(spool)})
        write_orders(folder, files=1, rows=5)
        driver.call("start_count", folder=str(folder), database=database, location=LOCATION)
        for first, last in ((1, 100), (100, 300)):
            write_orders(folder, files=last - first, rows=5, first=first)
            driver.call("wait_for_batch", location=LOCATION, batch=last - 1, seconds=400)
            driver.call("settle", seconds=3)
            figures = driver.call("held", name="orders")
            figures["objects"] = len(list(holdfast.scan(holdfast.open_store(store))))
            figures["spool"] = sum(path.stat().st_size for path in spool.rglob("*"))
            held.append(figures)
        driver.call("stop", location=LOCATION)
    early, late = held
    assert late["live_files"] <= early["live_files"] + 20
    assert late["objects"] <= early["objects"] + 40
    assert late["spool"] <= 2_000_000
    assert late["heap"] <= early["heap"] + 40_000_000
    assert read_counts(database) == counts_by_sku(folder)
    chain = holdfast.Chain(holdfast.open_store(store), "orders")
    numbers = [
        each.number for each in chain.history() if each.entry and each.entry.record.batch >= 0
    ]
    assert 10 <= len(numbers) <= 60
    assert all(chain.validate(number).valid for number in numbers[-10:])
