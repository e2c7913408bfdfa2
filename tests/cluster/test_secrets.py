"""Nothing secret leaves the driver: not to an executor, a log, a manifest or Spark's page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import boto3
import pytest

from tests.cluster import probes
from tests.cluster.jobs import ROCKS
from tests.spark.orders import write_orders
from tests.spark.processes import wait_until
from tests.trust import trusted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.cluster.standalone import Cluster
    from tests.s3.server import Server
    from tests.spark.processes import Child

pytestmark = pytest.mark.s3

CONF = {
    "spark.executor.memory": "512m",
    "spark.executor.cores": "1",
    "spark.sql.shuffle.partitions": "2",
    "spark.log.level": "INFO",
    "spark.ui.enabled": "true",
    "spark.ui.port": "0",
    "spark.redaction.regex": "nothing-is-redacted",
    "spark.eventLog.enabled": "true",
    **ROCKS,
}


def test_keys_and_signed_urls_stay_in_the_driver(
    child: Callable[..., Child],
    cluster: Cluster,
    s3_server: Server,
    s3_url: Callable[..., str],
    tmp_path: Path,
) -> None:
    """Spark redacts nothing here, logs all it can, and large files go over tickets."""
    write_orders(tmp_path / "orders", files=3)
    (tmp_path / "events").mkdir()
    conf = {
        **CONF,
        "spark.jars": str(probes.build(tmp_path / "probe.jar")),
        "spark.eventLog.dir": (tmp_path / "events").as_uri(),
        "spark.holdfast.store.second": s3_url(prefix="second"),
    }
    with child() as driver:
        driver.start(trusted(s3_url()), master=cluster.master, **conf)
        run = {"folder": str(tmp_path / "orders"), "location": "holdfast:///orders"}
        driver.call("tests.cluster.steps:count_to_nothing", **run)
        wait_until(lambda: bool(large_files(s3_server, s3_url)), "a large file on the store")
        probe = probes.Probe(driver)
        told = str(probe.entry.settings())
        probe.close()
        page = driver.call("tests.cluster.steps:environment_page")
    seen = {"an executor's configuration": told, "Spark's page": page}
    seen |= dict(files_below(tmp_path))
    seen |= {key: body.decode(errors="replace") for key, body in objects(s3_server, s3_url)}
    assert "spark.holdfast.store" in told
    assert "spark.holdfast.store" in page
    for secret in (s3_server.secret_key, s3_server.access_key, "X-Amz-Signature"):
        assert [name for name, text in seen.items() if secret in text] == []


def files_below(folder: Path) -> Iterator[tuple[str, str]]:
    """Logs of all processes, work directories, event logs."""
    for path in folder.rglob("*"):
        if path.is_file():
            yield str(path.relative_to(folder)), path.read_bytes().decode(errors="replace")


def objects(server: Server, url: Callable[..., str]) -> Iterator[tuple[str, bytes]]:
    """Everything below the store's prefix, as anybody reads it."""
    bucket, _, prefix = url().removeprefix("s3://").partition("?")[0].partition("/")
    client: Any = boto3.client(
        "s3",
        endpoint_url=server.endpoint,
        aws_access_key_id=server.access_key,
        aws_secret_access_key=server.secret_key,
        region_name="us-east-1",
    )
    for each in client.list_objects_v2(Bucket=bucket, Prefix=prefix).get("Contents", []):
        yield each["Key"], client.get_object(Bucket=bucket, Key=each["Key"])["Body"].read()


def large_files(server: Server, url: Callable[..., str]) -> list[str]:
    return [key for key, _ in objects(server, url) if "/checkpoints/files/" in key]
