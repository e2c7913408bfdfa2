"""What a new process on an empty machine shows is what the killed one showed (I7)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.spark.orders import counts_by_sku, write_orders
from tests.spark.queries import make_tables, read_counts, read_doubled

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.spark.processes import Child

LOCATION = "holdfast:///orders"
ROCKS = {
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "false",
    "spark.holdfast.largeFileBytes": "500",
}


@pytest.mark.parametrize("conf", [{}, ROCKS], ids=["hdfs", "rocks, large files"])
def test_list_stat_and_bytes_survive_the_driver(
    child: Callable[..., Child], store: str, tmp_path: Path, conf: dict[str, str]
) -> None:
    """Every path, size, time and byte; then the query goes on from there."""
    folder, database = tmp_path / "orders", str(tmp_path / "sink.db")
    make_tables(database)
    write_orders(folder, files=5)
    job: dict[str, Any] = {"folder": str(folder), "database": database, "location": LOCATION}
    with child() as first:
        first.start(store, **conf)
        first.call("start_count", **job)
        first.call("wait_for_batch", location=LOCATION, batch=4)
        before = first.call("dump", location=LOCATION)
        first.kill()
    write_orders(folder, files=2, first=5)
    with child() as second:
        second.start(store, **conf)
        assert second.call("dump", location=LOCATION) == before
        second.call("finish_count", **job)
    assert len(before) > 30
    assert read_counts(database) == counts_by_sku(folder)
    assert read_doubled(database) == []


def test_a_start_that_goes_back_warns_in_sparks_log(
    child: Callable[..., Child], store: str, tmp_path: Path
) -> None:
    """At WARN through log4j, which a driver prints unless told otherwise."""
    folder, database = tmp_path / "orders", str(tmp_path / "sink.db")
    make_tables(database)
    write_orders(folder, files=3)
    job: dict[str, Any] = {"folder": str(folder), "database": database, "location": LOCATION}
    with child() as first:
        first.start(store)
        first.call("finish_count", **job)
    newest = max((tmp_path / "store").glob("orders/manifests/manifest-*.json"))
    newest.write_bytes(newest.read_bytes()[:-1])
    with child() as second:
        second.start(store, **{"spark.log.level": "WARN"})
        second.call("finish_count", **job)
    logs = "".join(path.read_text() for path in tmp_path.glob("*.log"))
    lines = [line for line in logs.splitlines() if "skipped 4: manifest 4 is not JSON" in line]
    assert any(" WARN " in line for line in lines), logs[-2000:]
    assert read_counts(database) == counts_by_sku(folder)
