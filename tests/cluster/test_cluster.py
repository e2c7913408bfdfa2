"""Executors in processes of their own: what they send, and what their loss does to the result."""

from __future__ import annotations

import random
import threading
import time
from typing import TYPE_CHECKING

import pytest

from tests.cluster.jobs import CONF, LOCATION, ROCKS, SPECULATION, Job
from tests.spark.orders import counts_by_sku, write_orders
from tests.spark.processes import wait_until
from tests.spark.submitting import bare_python, submitted

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cluster.standalone import Cluster
    from tests.spark.processes import Child

SECURE = {
    "spark.authenticate": "true",
    "spark.authenticate.secret": "for this test only",
    "spark.network.crypto.enabled": "true",
}
DYNAMIC = {
    "spark.dynamicAllocation.enabled": "true",
    "spark.dynamicAllocation.shuffleTracking.enabled": "true",
    "spark.dynamicAllocation.shuffleTracking.timeout": "1s",
    "spark.dynamicAllocation.executorIdleTimeout": "3s",
    "spark.dynamicAllocation.cachedExecutorIdleTimeout": "1s",
    "spark.dynamicAllocation.minExecutors": "0",
    "spark.dynamicAllocation.maxExecutors": "2",
}
# On a busy machine, a task that waits for 3 s moves to another executor, and Spark's maintenance
# comes within the test: both list a partition.
STEADY = {
    "spark.locality.wait": "10min",
    "spark.sql.streaming.stateStore.maintenanceInterval": "1h",
}
# Not together with DYNAMIC where all are to leave: who is handed the shuffle files of one that
# goes counts as busy until the next job ends (Spark's ExecutorMonitor), so an idle query keeps it.
DECOMMISSION = {
    "spark.decommission.enabled": "true",
    "spark.storage.decommission.enabled": "true",
}


def test_a_state_file_is_one_message(child: Callable[..., Child], job: Job) -> None:
    """And a batch in steady state sends nothing else: no stat, no list."""
    write_orders(job.folder, files=3)
    with child() as driver:
        driver.start(job.store, master="local-cluster[2,1,1024]", **CONF, **STEADY)
        driver.call("start_count", **job.args)
        driver.call("wait_for_batch", location=LOCATION, batch=2)
        before = driver.call("messages")
        write_orders(job.folder, files=5, first=3)
        driver.call("wait_for_batch", location=LOCATION, batch=7)
        after = driver.call("messages")
    sent = {kind: after[kind] - before.get(kind, 0) for kind in after}
    assert sent["publish"] == 5 * 4
    assert sum(sent.values()) == sent["publish"], sent
    job.require_exact()


def test_a_cold_partition_comes_in_a_bounded_number_of_messages(
    child: Callable[..., Child], job: Job
) -> None:
    """A restart: what a task opens comes along with its listing.

    Over connections as conf/README.md advises them, authenticated and encrypted.
    """
    write_orders(job.folder, files=6)
    with child() as driver:
        driver.start(job.store, master="local-cluster[2,1,1024]", **CONF, **SECURE)
        driver.call("finish_count", **job.args)
        before = driver.call("messages")
        write_orders(job.folder, files=1, first=6)
        driver.call("finish_count", **job.args)
        after = driver.call("messages")
    sent = {kind: after[kind] - before.get(kind, 0) for kind in after}
    assert sent.get("open", 0) == 0, sent
    assert sent["list"] <= 2 * 4, sent
    assert sum(sent.values()) <= 8 * 4, sent
    job.require_exact()


@pytest.mark.timeout(600)
def test_state_is_read_on_executors_of_a_driver_that_runs_no_query(
    child: Callable[..., Child], job: Job
) -> None:
    """Small files from the driver, large ones over tickets to read.

    Spark's readers look at state, offsets and commits in tasks; so may any other reader.
    """
    write_orders(job.folder, files=2)
    with child() as driver:
        driver.start(job.store, master="local-cluster[2,1,1024]", **CONF, **ROCKS)
        driver.call("finish_count", **job.args)
    claim = job.chain().recover().head.claim
    with child() as reader:
        reader.start(job.store, master="local-cluster[2,1,1024]", **CONF, **ROCKS)
        found = reader.call("tests.cluster.steps:read_state", location=LOCATION)
        operators = reader.call("tests.cluster.steps:read_metadata", location=LOCATION)
        commits = reader.call("tests.cluster.steps:read_files", path=f"{LOCATION}/commits")
    assert found == counts_by_sku(job.folder)
    assert operators == ["stateStoreSave"]
    assert [text.splitlines()[0] for text in commits] == ["v1", "v1"]
    assert job.chain().recover().head.claim == claim


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_executors_are_killed_again_and_again(
    child: Callable[..., Child], cluster: Cluster, job: Job
) -> None:
    """At random moments; at chosen ones, in `test_losses.py`."""
    dice = random.Random(1)
    over = threading.Event()

    def strike() -> None:
        while not over.wait(dice.uniform(0.5, 3)):
            dice.choice(cluster.workers).kill_executors()

    write_orders(job.folder, files=1)
    with child() as driver:
        driver.start(job.store, master=cluster.master, **CONF, **ROCKS)
        driver.call("start_count", **job.args)
        striker = threading.Thread(target=strike)
        striker.start()
        for step in range(5):
            write_orders(job.folder, files=3, first=3 * step + 1)
            time.sleep(4)
        over.set()
        striker.join()
        driver.call("wait_for_batch", location=LOCATION, batch=15, seconds=240)
        driver.call("stop", location=LOCATION)
    job.require_exact()


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_machine_is_lost_and_another_one_comes(
    child: Callable[..., Child], cluster: Cluster, job: Job
) -> None:
    """With speculation on; a new executor works from its first task."""
    write_orders(job.folder, files=4)
    with child() as driver:
        driver.start(job.store, master=cluster.master, **CONF, **SPECULATION)
        driver.call("start_count", **job.args)
        driver.call("wait_for_batch", location=LOCATION, batch=3)
        cluster.workers[0].kill()
        cluster.add_worker()
        write_orders(job.folder, files=4, first=4)
        driver.call("wait_for_batch", location=LOCATION, batch=7, seconds=240)
        driver.call("stop", location=LOCATION)
    job.require_exact()


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_executors_come_and_go_as_spark_decides(
    child: Callable[..., Child], cluster: Cluster, job: Job
) -> None:
    """Dynamic allocation: all are idle and leave; those that come work from their first task."""
    write_orders(job.folder, files=2)
    with child() as driver:
        driver.start(job.store, master=cluster.master, **CONF, **DYNAMIC)
        driver.call("start_count", **job.args)
        driver.call("wait_for_batch", location=LOCATION, batch=1, seconds=240)
        wait_until(
            lambda: not cluster.executors(), "all executors to leave", seconds=120, every_s=0.5
        )
        write_orders(job.folder, files=2, first=2)
        driver.call("wait_for_batch", location=LOCATION, batch=3, seconds=240)
        driver.call("stop", location=LOCATION)
    job.require_exact()


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_an_executor_is_told_to_go_while_it_works(
    child: Callable[..., Child], cluster: Cluster, job: Job
) -> None:
    """Decommission: it hands over what it holds, leaves, and its partitions move."""
    write_orders(job.folder, files=2)
    with child() as driver:
        driver.start(job.store, master=cluster.master, **CONF, **DECOMMISSION)
        driver.call("start_count", **job.args)
        driver.call("wait_for_batch", location=LOCATION, batch=1, seconds=240)
        write_orders(job.folder, files=6, first=2)
        told = cluster.decommission()
        driver.call("wait_for_batch", location=LOCATION, batch=7, seconds=240)
        wait_until(
            lambda: not told & set(cluster.executors()), "it to leave", seconds=120, every_s=0.5
        )
        write_orders(job.folder, files=2, first=8)
        driver.call("wait_for_batch", location=LOCATION, batch=9, seconds=240)
        driver.call("stop", location=LOCATION)
    job.require_exact()


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_driver_runs_on_a_worker_s_side(cluster: Cluster, store: str, tmp_path: Path) -> None:
    """As cluster mode has it elsewhere: in a worker's folder, with the flags that anybody gets."""
    orders, folder = tmp_path / "orders", cluster.workers[0].folder / "driver"
    folder.mkdir()
    write_orders(orders, files=2)
    counts, batch, _ = submitted(
        folder, master=cluster.master, store=store, orders=orders, python=bare_python(folder)
    )
    assert (counts, batch) == (counts_by_sku(orders), 1)
