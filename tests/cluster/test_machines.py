"""Driver, executors and store on machines of their own, which can be cut off from each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from tests import machines
from tests.cluster import probes
from tests.cluster.jobs import CONF, LOCATION, ROCKS, Job
from tests.cluster.standalone import Cluster
from tests.cluster.traps import Trap
from tests.s3 import server
from tests.s3.buckets import fresh_bucket, store_url
from tests.spark.orders import write_orders
from tests.spark.processes import ROOT
from tests.trust import trusted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.machines import Machine, Network
    from tests.spark.processes import Child

pytestmark = [pytest.mark.slow, pytest.mark.s3, pytest.mark.timeout(300)]

IMPATIENT = {
    "spark.network.timeout": "12s",
    "spark.network.timeoutInterval": "4s",
    "spark.executor.heartbeatInterval": "2s",
}


@dataclass(frozen=True, kw_only=True)
class Site:
    """Two drivers' machines, the store's, and a cluster with two workers."""

    drivers: tuple[Machine, Machine]
    store: Machine
    cluster: Cluster
    job: Job
    spools: Path

    @property
    def workers(self) -> list[Machine]:
        return [worker.machine for worker in self.cluster.workers]


@pytest.fixture(scope="module")
def network() -> Iterator[Network]:
    try:
        with machines.network() as made:
            yield made
    except machines.NoMachinesError as error:
        if machines.is_required():
            raise
        pytest.skip(str(error))


@pytest.fixture
def site(network: Network, s3_choice: server.Choice, tmp_path: Path) -> Iterator[Site]:
    """Workers have neither this package nor a driver's spool: their disks are empty there."""
    if s3_choice.kind != "binary":
        pytest.skip(f"only a binary of MinIO runs on another machine, not {s3_choice.name}")
    spools, data = tmp_path / "spools", tmp_path / "minio"
    for folder in (spools, data):
        folder.mkdir()
    first, second, store, *workers = (
        network.machine(f"{name}-{tmp_path.name}")
        for name in ("first", "second", "store", "worker-1", "worker-2")
    )
    with (
        server.run(s3_choice, data, store) as running,
        Cluster(tmp_path / "cluster", workers=0, cores=2, machine=second) as cluster,
    ):
        for worker in workers:
            cluster.add_worker(worker.without(ROOT / "python", spools, data))
        bucket = store.inside(lambda: fresh_bucket(running).__enter__())
        url = store_url(running, bucket, "store")
        store.inside(lambda: trusted(url))
        job = Job(tmp_path, url, near=store)
        yield Site(drivers=(first, second), store=store, cluster=cluster, job=job, spools=spools)


def spool(site: Site, name: str) -> dict[str, str]:
    return {"spark.holdfast.spool.dir": str(site.spools / name)}


def test_a_driver_s_machine_is_lost_and_another_one_goes_on(
    child: Callable[..., Child], site: Site
) -> None:
    """It has the store and nothing else. The first one runs on, cut off from everybody."""
    job, conf = site.job, {**CONF, **ROCKS, "spark.cores.max": "2"}
    write_orders(job.folder, files=4)
    with child(site.drivers[0]) as lost, child(site.drivers[1]) as driver:
        lost.start(job.store, master=site.cluster.master, **conf, **spool(site, "first"))
        lost.call("start_count", **job.args, delay_s=0.5)
        lost.call("wait_for_batch", location=LOCATION, batch=1)
        site.drivers[0].cut()
        driver.start(job.store, master=site.cluster.master, **conf, **spool(site, "second"))
        driver.call("finish_count", **job.args)
        site.drivers[0].mend()
        told = lost.call("await_exception", location=LOCATION)
    assert "FencedError" in told
    job.require_exact()


def test_a_worker_s_cable_is_pulled_in_mid_task(
    child: Callable[..., Child], site: Site, tmp_path: Path
) -> None:
    """Nobody is told: its silence is noticed, its task is run elsewhere; then it is back."""
    job, trap = site.job, Trap(tmp_path / "trap")
    write_orders(job.folder, files=2)
    conf = {**CONF, **IMPATIENT, "spark.jars": str(probes.build(tmp_path / "probe.jar"))}
    with child(site.drivers[0]) as driver:
        driver.start(job.store, master=site.cluster.master, **conf, **spool(site, "first"))
        args = {**job.args, "tasks_in": str(trap.folder)}
        driver.call("tests.cluster.steps:start_trapped", **args)
        driver.call("wait_for_batch", location=LOCATION, batch=1)
        trap.shut()
        write_orders(job.folder, files=1, first=2)
        trap.caught(2)
        site.workers[0].cut()
        trap.open()
        driver.call("wait_for_batch", location=LOCATION, batch=2, seconds=120)
        site.workers[0].mend()
        write_orders(job.folder, files=3, first=3)
        driver.call("wait_for_batch", location=LOCATION, batch=5, seconds=120)
        driver.call("stop", location=LOCATION)
    job.require_exact()


def test_executors_that_do_not_reach_the_store_say_what_to_do(
    child: Callable[..., Child], site: Site
) -> None:
    """A firewall: large files go there by themselves, and can be sent through the driver."""
    job = site.job
    write_orders(job.folder, files=1)
    for worker in site.workers:
        worker.bar(site.store)
    with child(site.drivers[0]) as driver:
        conf = {**CONF, **ROCKS, **spool(site, "first"), "spark.task.maxFailures": "1"}
        driver.start(job.store, master=site.cluster.master, **conf)
        driver.call("start_count", **job.args)
        told = driver.call("await_exception", location=LOCATION)
    assert "UnavailableError: a large file did not get through" in told
    assert "spark.holdfast.largeFileBytes" in told
    assert f"does this machine reach {site.store.address}:" in told
    assert "X-Amz-Signature" not in told
    with child(site.drivers[0]) as driver:
        conf["spark.holdfast.largeFileBytes"] = "64m"
        driver.start(job.store, master=site.cluster.master, **conf)
        driver.call("finish_count", **job.args)
    job.require_exact()
