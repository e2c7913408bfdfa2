"""Large files between executors and a real S3 server: in parts, over tickets that expire."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import boto3
import pytest
from py4j.protocol import Py4JJavaError

from tests.cluster import probes
from tests.faults.proxy import FaultProxy, fault_proxy
from tests.faults.rules import Act, Rule
from tests.s3.buckets import store_url
from tests.spark.orders import write_orders
from tests.spark.processes import SPARK_HOME, Child
from tests.trust import trusted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.s3.server import Server

pytestmark = pytest.mark.s3

ROOT = "holdfast:///large"
STATE = f"{ROOT}/state/0/0"
MIB = 1 << 20
PARTED = 200 * MIB
TICKET_SECONDS = 4


class Site:
    """A query on a cluster, its store behind a proxy, and a door into an executor."""

    def __init__(self, driver: Child, proxy: FaultProxy, server: Server, bucket: str) -> None:
        self.proxy = proxy
        self._bucket = bucket
        self._probe = probes.Probe(driver)
        self._client = boto3.client(
            "s3",
            endpoint_url=server.endpoint,
            aws_access_key_id=server.access_key,
            aws_secret_access_key=server.secret_key,
            region_name="us-east-1",
        )

    def write(self, name: str, size: int, *rules: Rule) -> str:
        """In the executor, while the store misbehaves; returns the hash of what was written."""
        self.proxy.log.clear()
        self.proxy.script.set(*rules)
        try:
            return str(self._probe.entry.write(self._probe.conf, f"{STATE}/{name}", size, 1))
        finally:
            self.proxy.script.set()

    def read(self, name: str, *rules: Rule) -> str:
        self.proxy.log.clear()
        self.proxy.script.set(*rules)
        try:
            return str(self._probe.entry.read(self._probe.conf, f"{STATE}/{name}"))
        finally:
            self.proxy.script.set()

    def close(self) -> None:
        self._probe.close()

    def sent(self, verb: str) -> list[str]:
        """Keys of large files that such a request named, in order."""
        return [key for each, key in self.proxy.log if each == verb and "/files/" in key]

    def stored(self, key: str) -> str:
        """The hash of an object, read past everything of ours."""
        body = self._client.get_object(Bucket=self._bucket, Key=key)["Body"]
        digest = hashlib.sha256()
        for chunk in body.iter_chunks(MIB):
            digest.update(chunk)
        return digest.hexdigest()

    def overwrite(self, key: str, body: bytes) -> None:
        self._client.put_object(Bucket=self._bucket, Key=key, Body=body)

    def unfinished(self, key: str) -> int:
        """Uploads in parts that were begun for this key, and neither finished nor aborted."""
        found = self._client.list_multipart_uploads(Bucket=self._bucket, Prefix=key)
        return len(found.get("Uploads", []))


@pytest.fixture(scope="module")
def site(
    s3_server: Server, bucket: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("large")
    write_orders(folder / "orders", files=1)
    conf = {
        "spark.jars": str(probes.build(folder / "probe.jar")),
        "spark.holdfast.ticketSeconds": str(TICKET_SECONDS),
    }
    with (
        fault_proxy(s3_server.endpoint) as proxy,
        Child(folder / "driver.log", env={"SPARK_HOME": str(SPARK_HOME)}) as driver,
    ):
        url = trusted(store_url(s3_server, bucket, "large", endpoint_url=proxy.endpoint))
        driver.start(url, master="local-cluster[1,1,1024]", **conf)
        driver.call(
            "tests.cluster.steps:count_to_nothing", folder=str(folder / "orders"), location=ROOT
        )
        made = Site(driver, proxy, s3_server, bucket)
        yield made
        made.close()


def test_a_file_of_200_mib_goes_up_in_three_parts(site: Site) -> None:
    """It is read back whole, by us and by anybody, and no upload is left open."""
    digest = site.write("parts", PARTED)
    puts = site.sent("put")
    assert len(puts) == 3
    assert len(set(puts)) == 1
    assert len(site.sent("post")) == 2  # begun and finished
    assert site.stored(puts[0]) == digest
    assert site.read("parts") == digest
    assert site.unfinished(puts[0]) == 0


def test_a_table_of_rocksdb_is_one_request(site: Site) -> None:
    """Compaction cuts its tables a little above 64 MiB."""
    digest = site.write("table", 64 * MIB + 355_000)
    assert len(site.sent("put")) == 1
    assert site.sent("post") == []
    assert site.stored(site.sent("put")[0]) == digest


@pytest.mark.parametrize("act", [Act.INTERNAL, Act.LOSE_REQUEST, Act.LOSE_REPLY, Act.REFUSE])
def test_a_part_that_fails_is_sent_again_by_itself(site: Site, act: Act) -> None:
    """Under the same key; where its ticket was refused, with a fresh one for the same upload."""
    rule = Rule(act=act, verb="put", key=".*/files/.*", nth=2)
    digest = site.write(f"again-{act.name}", PARTED, rule)
    assert len(site.sent("put")) == 4
    assert len(set(site.sent("put"))) == 1
    assert site.stored(site.sent("put")[0]) == digest


def test_an_upload_may_take_longer_than_its_ticket_lasts(site: Site) -> None:
    """The server itself refuses what has expired; what was sent stays sent."""
    slow = Rule(act=Act.SLOW, verb="put", key=".*/files/.*", seconds=TICKET_SECONDS + 1)
    digest = site.write("slow", PARTED, slow)
    assert len(site.sent("put")) > 3
    assert len(set(site.sent("put"))) == 1
    assert site.stored(site.sent("put")[0]) == digest


def test_a_refused_upload_gets_a_fresh_ticket_and_a_key_of_its_own(site: Site) -> None:
    """A file in one piece."""
    refused = Rule(act=Act.REFUSE, verb="put", key=".*/files/.*")
    digest = site.write("whole", 2 * MIB, refused)
    first, second = site.sent("put")
    assert first != second
    assert site.stored(second) == digest


@pytest.mark.parametrize("act", [Act.REFUSE, Act.INTERNAL, Act.TRUNCATE])
def test_a_download_is_tried_again(site: Site, act: Act) -> None:
    """With a fresh ticket where the store refuses the first."""
    digest = site.write(f"down-{act.name}", 2 * MIB)
    rule = Rule(act=act, verb="get", key=".*/files/.*")
    assert site.read(f"down-{act.name}", rule) == digest
    assert len(site.sent("get")) == 2


def test_other_bytes_than_were_written_are_refused(site: Site) -> None:
    """By the executor that reads them, whoever put them there."""
    site.write("other", 2 * MIB)
    site.overwrite(site.sent("put")[0], bytes(2 * MIB))
    with pytest.raises(Py4JJavaError, match="CorruptionError: an object is not what was written"):
        site.read("other")


@pytest.mark.slow
def test_a_snapshot_of_gigabytes_passes_through_little_memory(site: Site) -> None:
    """An executor with a heap of 1 GiB sends and reads more than twice as much.

    Its tickets last for seconds, so some of its 39 parts are sent a second time.
    """
    digest = site.write("gigabytes", 2500 * MIB)
    assert len(site.sent("put")) >= 39
    assert len(set(site.sent("put"))) == 1
    assert site.read("gigabytes") == digest
