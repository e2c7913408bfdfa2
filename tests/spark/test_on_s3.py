"""Queries whose checkpoints are on a real S3 server, and what the server can do to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import holdfast
from tests.faults.proxy import FaultProxy, fault_proxy
from tests.faults.rules import Act, Rule
from tests.spark.orders import write_orders
from tests.spark.test_gate import Job
from tests.trust import trusted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tests.s3.server import Server

pytestmark = pytest.mark.s3

LOCATION = "holdfast:///orders"
ROCKS = {
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.holdfast.largeFileBytes": "500",
}


@pytest.fixture
def proxy(s3_server: Server) -> Iterator[FaultProxy]:
    with fault_proxy(s3_server.endpoint) as made:
        yield made


@pytest.fixture
def job(spark: SparkSession, tmp_path: Path, s3_url: Callable[..., str], proxy: FaultProxy) -> Job:
    """The count, on the S3 server behind a proxy; an absent store is given up after two seconds."""
    url = s3_url(endpoint_url=proxy.endpoint, read_timeout_s="1")
    spark.conf.set("spark.holdfast.store", trusted(url))
    spark.conf.set("spark.holdfast.gate.seconds", "2")
    holdfast.enable(spark)
    return Job(spark, tmp_path)


def test_a_batch_is_two_requests_and_a_restart_is_exact(job: Job, proxy: FaultProxy) -> None:
    """Intent and manifest, counted where they pass by."""
    write_orders(job.folder, files=3)
    query = job.start()
    proxy.log.clear()
    write_orders(job.folder, files=4, first=3)
    query.processAllAvailable()
    query.stop()
    puts = [key.rpartition("/")[2] for verb, key in proxy.log if verb == "put"]
    batches = [name for name in puts if name.startswith(("intent", "manifest"))]
    assert len(batches) == 8
    assert len(proxy.log) <= 9  # and a hint, every tenth time
    job.run()
    job.require_exact()


@pytest.mark.parametrize(
    ("act", "text"),
    [
        (Act.REFUSE, "PermissionDeniedError"),
        (Act.INTERNAL, "CommitUnknownError"),
        (Act.LOSE_REQUEST, "CommitUnknownError"),
    ],
)
def test_a_manifest_that_cannot_be_written_stops_the_query(
    job: Job, proxy: FaultProxy, act: Act, text: str
) -> None:
    """Refused, failing or out of reach: the batch is absent, and the restart resumes at it."""
    write_orders(job.folder, files=2)
    query = job.start()
    proxy.script.set(Rule(act=act, verb="put|get|head", key=r"manifest-\d+", nth=0))
    write_orders(job.folder, files=1, first=2)
    assert text in job.fail(query)
    proxy.script.set()
    assert job.committed() == ["0", "1"]
    job.run()
    assert job.committed() == ["0", "1", "2"]
    job.require_exact()


def test_a_lost_reply_is_no_failure(job: Job, proxy: FaultProxy) -> None:
    """The manifest is there, and it is ours: the query goes on."""
    write_orders(job.folder, files=1)
    query = job.start()
    proxy.script.set(
        Rule(act=Act.LOSE_REPLY, verb="put", key=r"manifest-\d+"),
        Rule(act=Act.LOSE_REPLY, verb="put", key=r"intent-\d+"),
    )
    write_orders(job.folder, files=2, first=1)
    query.processAllAvailable()
    query.stop()
    assert job.committed() == ["0", "1", "2"]
    job.require_exact()


def test_a_bucket_that_is_gone_stops_the_query(job: Job, proxy: FaultProxy) -> None:
    """With the bucket's name in the text, not a stack trace's."""
    write_orders(job.folder, files=1)
    query = job.start()
    proxy.script.set(Rule(act=Act.NO_BUCKET, verb="put", nth=0))
    write_orders(job.folder, files=1, first=1)
    assert "ConfigError: the bucket does not exist" in job.fail(query)
    proxy.script.set()
    job.run()
    job.require_exact()


def test_large_files_go_over_signed_urls(spark: SparkSession, job: Job, proxy: FaultProxy) -> None:
    """RocksDB's snapshots, uploaded by the JVM and fetched again after a restart."""
    for key, value in ROCKS.items():
        spark.conf.set(key, value)
    holdfast.enable(spark)
    write_orders(job.folder, files=3)
    job.run()
    large = [key for verb, key in proxy.log if verb == "put" and "/checkpoints/files/" in key]
    assert large
    proxy.log.clear()
    write_orders(job.folder, files=2, first=3)
    job.run()
    assert [key for verb, key in proxy.log if verb == "get" and "/checkpoints/files/" in key]
    job.require_exact()
