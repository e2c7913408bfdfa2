"""Drivers killed with SIGKILL at any moment: the result is exact, and no row is there twice.

`HOLDFAST_SEED` repeats the moments of a run; each test prints its own.
"""

from __future__ import annotations

import os
import random
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.spark.orders import all_orders, counts_by_sku, write_orders
from tests.spark.queries import make_tables, read_counts, read_doubled, read_orders

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.spark.processes import Child

FILES = 4


class Job:
    """A count and a copy of every order, in one driver, into one database."""

    def __init__(self, folder: Path, database: str) -> None:
        self.folder, self.database = folder, database
        make_tables(database)

    def args(self, name: str) -> dict[str, Any]:
        location = f"holdfast:///{name}"
        return {"folder": str(self.folder), "database": self.database, "location": location}

    def begin(self, driver: Child) -> None:
        driver.call("start_count", **self.args("count"))
        driver.call("start_orders", **self.args("orders"))

    def finish(self, driver: Child) -> None:
        driver.call("finish_count", **self.args("count"))
        driver.call("finish_orders", **self.args("orders"))

    def require_exact(self) -> None:
        """The count is the batch computation's, and the sink holds each row once."""
        assert read_counts(self.database) == counts_by_sku(self.folder)
        assert read_doubled(self.database) == []
        orders = [order["id"] for order in all_orders(self.folder)]
        assert read_orders(self.database) == orders


def kill_again_and_again(job: Job, store: str, child: Callable[..., Child], kills: int) -> None:
    """The Python driver, the JVM, or both; each successor starts on an empty spool."""
    seed = int(os.environ.get("HOLDFAST_SEED") or random.randrange(1 << 32))
    print(f"HOLDFAST_SEED={seed}")
    dice, following = random.Random(seed), opening(child, store)
    for kill in range(kills):
        write_orders(job.folder, files=FILES, first=FILES * kill)
        uptime, who = dice.uniform(0.1, 3.0), dice.choice(["python", "jvm", "both"])
        driver, following = following, opening(child, store)
        driver.jvm_pid = driver.answer()
        job.begin(driver)
        time.sleep(uptime)
        driver.kill(who=who)
        print(f"kill {kill + 1}: {who}, {uptime:.1f} s after its start")
    following.jvm_pid = following.answer()
    job.finish(following)
    job.require_exact()


def opening(child: Callable[..., Child], store: str) -> Child:
    """A driver whose session is on its way: a JVM takes a while to start."""
    driver = child()
    driver.send("open_session", store=store, conf={})
    return driver


def test_the_result_is_exact_whoever_is_killed_and_when(
    child: Callable[..., Child], store: str, tmp_path: Path
) -> None:
    """Three in a row, with the sink in SQLite."""
    job = Job(tmp_path / "orders", str(tmp_path / "sink.db"))
    kill_again_and_again(job, store, child, 3)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_result_is_exact_after_twenty_kills_with_its_sink_in_postgresql(
    child: Callable[..., Child], store: str, tmp_path: Path, postgres: str
) -> None:
    """In a row; what a killed driver left open, the server rolls back."""
    kill_again_and_again(Job(tmp_path / "orders", postgres), store, child, 20)
