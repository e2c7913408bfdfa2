"""Two drivers on one query: the later goes on, the earlier stops and says who took over."""

from __future__ import annotations

import signal
import time
from typing import TYPE_CHECKING

import pytest

from tests.spark.orders import counts_by_sku, write_orders
from tests.spark.queries import make_tables, read_counts, read_doubled

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.spark.processes import Child

LOCATION = "holdfast:///orders"


class Race:
    """An earlier driver in the middle of its work, and a later one that can start at any time."""

    def __init__(self, make: Callable[..., Child], store: str, folder: Path, database: str) -> None:
        self.earlier, self.later = make(), make()
        for driver in (self.earlier, self.later):
            driver.send("open_session", store=store, conf={})
        for driver in (self.earlier, self.later):
            driver.jvm_pid = driver.answer()
        self.job = {"folder": str(folder), "database": database, "location": LOCATION}
        self.folder, self.database = folder, database


@pytest.fixture
def race(child: Callable[..., Child], store: str, tmp_path: Path) -> Race:
    database = str(tmp_path / "sink.db")
    make_tables(database)
    write_orders(tmp_path / "orders", files=12)
    return Race(child, store, tmp_path / "orders", database)


def test_the_earlier_driver_is_fenced_and_the_result_is_exact(race: Race) -> None:
    """At its next create; the text names the error, the host, the application and the time."""
    race.earlier.call("start_count", **race.job, delay_s=0.3)
    race.earlier.call("wait_for_batch", location=LOCATION, batch=1)
    race.later.call("finish_count", **race.job)
    text = race.earlier.call("await_exception", location=LOCATION)
    assert "FencedError: another writer has taken this query over" in text
    assert "holdfast-tests local-" in text
    assert f"pid {race.later.pid}" in text
    assert "at=`20" in text
    status = race.earlier.call("status", name="orders")
    assert (status["fenced"], status["error"], status["active"]) == (True, "FencedError", False)
    assert read_counts(race.database) == counts_by_sku(race.folder)
    assert read_doubled(race.database) == []


def test_a_driver_that_slept_through_the_claim_in_mid_batch_is_fenced(race: Race) -> None:
    """SIGSTOP while its sink writes, SIGCONT when the later one is done."""
    race.earlier.call("start_count", **race.job, delay_s=1.0)
    race.earlier.call("wait_for_batch", location=LOCATION, batch=0)
    time.sleep(0.7)  # batch 1 is planned, and its sink sleeps inside its transaction
    race.earlier.signal(signal.SIGSTOP)
    race.later.send("finish_count", **race.job)
    time.sleep(2)
    race.earlier.signal(signal.SIGCONT)
    race.later.answer()
    assert "FencedError" in race.earlier.call("await_exception", location=LOCATION)
    assert read_counts(race.database) == counts_by_sku(race.folder)
    assert read_doubled(race.database) == []
