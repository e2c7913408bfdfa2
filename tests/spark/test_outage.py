"""An S3 store that asks to slow down: a query waits for it, or stops and resumes, by a setting."""

from __future__ import annotations

import threading
import time
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


@pytest.fixture
def proxy(s3_server: Server) -> Iterator[FaultProxy]:
    with fault_proxy(s3_server.endpoint) as made:
        yield made


@pytest.fixture
def job(
    spark: SparkSession, tmp_path: Path, s3_url: Callable[..., str], proxy: FaultProxy
) -> Callable[[int], Job]:
    """The count on the S3 server behind the proxy, with a gate of so many seconds."""

    def make(gate_seconds: int) -> Job:
        url = s3_url(endpoint_url=proxy.endpoint)
        spark.conf.set("spark.holdfast.store", trusted(url))
        spark.conf.set("spark.holdfast.gate.seconds", str(gate_seconds))
        holdfast.enable(spark)
        return Job(spark, tmp_path)

    return make


def slow_down(proxy: FaultProxy, seconds: float) -> Rule:
    """Every request is answered with SlowDown for so long."""
    rule = Rule(act=Act.SLOW_DOWN, nth=0)
    proxy.script.add(rule)
    timer = threading.Timer(seconds, proxy.script.remove, [rule])
    timer.daemon = True
    timer.start()
    return rule


def test_an_outage_beyond_the_deadline_stops_the_query_and_a_restart_resumes(
    job: Callable[[int], Job], proxy: FaultProxy
) -> None:
    """The error says how long it tried and what to set; few requests were made meanwhile."""
    count = job(3)
    write_orders(count.folder, files=2)
    query = count.start()
    rule = slow_down(proxy, seconds=9)
    began = time.monotonic()
    write_orders(count.folder, files=2, first=2)
    text = count.fail(query)
    assert "CommitUnknownError" in text
    assert "gave up after 3 s" in text
    assert "spark.holdfast.gate.seconds" in text
    assert time.monotonic() - began < 60
    assert rule.fired < 40  # and a hint, which is retried for as long
    while rule in proxy.script._rules:
        time.sleep(0.1)
    count.run()
    assert count.committed() == ["0", "1", "2", "3"]
    count.require_exact()


def test_a_shorter_outage_is_waited_for(
    job: Callable[[int], Job], proxy: FaultProxy, caplog: pytest.LogCaptureFixture
) -> None:
    """The query never stops, and its log says what it waited for."""
    count = job(15)
    write_orders(count.folder, files=2)
    query = count.start()
    rule = slow_down(proxy, seconds=5)
    write_orders(count.folder, files=2, first=2)
    query.processAllAvailable()
    assert rule.fired
    assert query.isActive
    assert holdfast.status(query).error == ""
    query.stop()
    assert count.committed() == ["0", "1", "2", "3"]
    count.require_exact()
    waits = [each.getMessage() for each in caplog.records if "trying again" in each.getMessage()]
    assert any("intent-" in wait and "SlowDown" in wait for wait in waits)


def test_a_start_waits_for_the_store_too(job: Callable[[int], Job], proxy: FaultProxy) -> None:
    """The claim has the same deadline."""
    count = job(15)
    write_orders(count.folder, files=1)
    count.run()
    write_orders(count.folder, files=1, first=1)
    rule = slow_down(proxy, seconds=3)
    count.run()
    assert rule.fired
    count.require_exact()
