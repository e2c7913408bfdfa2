"""Executors that are lost at a chosen moment: the result is exact, and nothing stays behind."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest

from tests.cluster import probes
from tests.cluster.jobs import CONF, LOCATION, ROCKS, SPECULATION, Job
from tests.cluster.traps import Trap
from tests.faults.proxy import fault_proxy
from tests.faults.rules import Act, Rule
from tests.spark.orders import write_orders
from tests.spark.processes import wait_until
from tests.trust import trusted

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cluster.standalone import Cluster
    from tests.s3.server import Server
    from tests.spark.processes import Child

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.fixture
def trap(tmp_path: Path) -> Trap:
    return Trap(tmp_path / "trap")


@pytest.fixture
def trapping(tmp_path: Path) -> dict[str, str]:
    """A session's settings, with what a trap needs on executors."""
    return {**CONF, "spark.jars": str(probes.build(tmp_path / "probe.jar"))}


def test_an_executor_is_killed_in_mid_task(
    child: Callable[..., Child], cluster: Cluster, job: Job, trap: Trap, trapping: dict[str, str]
) -> None:
    """It has read its state and not written it; another one does all of it again."""
    write_orders(job.folder, files=2)
    with child() as driver:
        driver.start(job.store, master=cluster.master, **trapping)
        args = {**job.args, "tasks_in": str(trap.folder)}
        driver.call("tests.cluster.steps:start_trapped", **args)
        driver.call("wait_for_batch", location=LOCATION, batch=1)
        trap.shut()
        write_orders(job.folder, files=2, first=2)
        os.kill(trap.caught()[0], signal.SIGKILL)
        trap.open()
        driver.call("wait_for_batch", location=LOCATION, batch=3)
        driver.call("stop", location=LOCATION)
    job.require_exact()


def test_all_executors_are_killed_when_their_tasks_are_done(
    child: Callable[..., Child], cluster: Cluster, job: Job, trap: Trap, trapping: dict[str, str]
) -> None:
    """Before the commit: what they wrote is with the driver, and the next ones get it from there.

    The batch is committed without being run again.
    """
    write_orders(job.folder, files=2)
    with child() as driver:
        driver.start(job.store, master=cluster.master, **trapping)
        driver.call("tests.cluster.steps:start_trapped", **job.args, sink_in=str(trap.folder))
        driver.call("wait_for_batch", location=LOCATION, batch=1)
        trap.shut()
        write_orders(job.folder, files=2, first=2)
        trap.caught()
        published = driver.call("messages")["publish"]
        killed = [worker.kill_executors() for worker in cluster.workers]
        trap.open()
        driver.call("wait_for_batch", location=LOCATION, batch=3)
        again = driver.call("messages")["publish"] - published
        driver.call("stop", location=LOCATION)
    assert killed == [1, 1]
    assert again == 4  # of batch 3; those of batch 2 were not written a second time
    job.require_exact()


def test_a_task_that_hangs_is_run_elsewhere_and_wakes_up_too_late(
    child: Callable[..., Child], cluster: Cluster, job: Job, trap: Trap, trapping: dict[str, str]
) -> None:
    """Speculation: its batch is committed without it, and what it does then changes nothing."""
    write_orders(job.folder, files=2)
    with child() as driver:
        driver.start(job.store, master=cluster.master, **trapping, **SPECULATION)
        args = {**job.args, "tasks_in": str(trap.folder)}
        driver.call("tests.cluster.steps:start_trapped", **args)
        driver.call("wait_for_batch", location=LOCATION, batch=1)
        trap.shut()
        write_orders(job.folder, files=1, first=2)
        hanging = trap.caught(2)[0]
        trap.keep(hanging)
        trap.open()
        driver.call("wait_for_batch", location=LOCATION, batch=2)
        committed = driver.call("dump", location=f"{LOCATION}/state")
        trap.release(hanging)
        write_orders(job.folder, files=3, first=3)
        driver.call("wait_for_batch", location=LOCATION, batch=5)
        after = driver.call("dump", location=f"{LOCATION}/state")
        driver.call("stop", location=LOCATION)
    assert [each for each in committed if each[1] == "file" and each not in after] == []
    job.require_exact()


@pytest.mark.s3
def test_executors_are_killed_in_mid_upload(
    child: Callable[..., Child],
    cluster: Cluster,
    s3_server: Server,
    s3_url: Callable[..., str],
    tmp_path: Path,
) -> None:
    """What they sent arrives after their death; no checkpoint names it, and a sweep takes it."""
    job = Job(tmp_path, trusted(s3_url()))
    write_orders(job.folder, files=2)
    held = Rule(act=Act.SLOW, verb="put", key="/files/", nth=2, seconds=5)  # the plan is first
    with fault_proxy(s3_server.endpoint) as proxy, child() as driver:
        behind = s3_url(endpoint_url=proxy.endpoint)
        driver.start(behind, master=cluster.master, **CONF, **ROCKS)
        driver.call("start_count", **job.args)
        driver.call("wait_for_batch", location=LOCATION, batch=1)
        proxy.script.set(held)
        write_orders(job.folder, files=2, first=2)
        wait_until(lambda: held.fired > 0, "an upload")
        killed = sum(worker.kill_executors() for worker in cluster.workers)
        driver.call("wait_for_batch", location=LOCATION, batch=3)
        driver.call("stop", location=LOCATION)
        driver.call("finish_count", **job.args)  # another claim: what the one before left is old
    assert killed == 2
    job.require_exact()
    swept = job.chain().sweep()
    assert len(swept.objects) > 0
    assert len(job.chain().sweep(dry_run=True).objects) == 0
    job.require_exact()
