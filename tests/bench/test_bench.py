"""The bench's own arithmetic: a wrong figure is worse than none."""

from __future__ import annotations

import http.client
import http.server
import json
import re
import threading
import time
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from tests.bench import (
    figures,
    growth,
    latency,
    markdown,
    movement,
    plot,
    single,
    tables,
    traffic,
)
from tests.bench.contenders import SETTINGS, TITLES
from tests.bench.rounds import Taken, turns
from tests.bench.traffic import Traffic

if TYPE_CHECKING:
    from collections.abc import Iterator

METRICS = """\
# TYPE minio_bucket_requests_total counter
minio_bucket_requests_total{api="putobject",bucket="ours",server="127.0.0.1:9000"} 20
minio_bucket_requests_total{api="putobjectpart",bucket="ours",server="127.0.0.1:9000"} 1
minio_bucket_requests_total{api="listobjectsv2",bucket="ours",server="127.0.0.1:9000"} 2
minio_bucket_requests_total{api="deletemultipleobjects",bucket="ours",server="127.0.0.1:9000"} 3
minio_bucket_requests_total{api="putobject",bucket="theirs",server="127.0.0.1:9000"} 999
minio_bucket_requests_inflight_total{api="putobject",bucket="ours",server="127.0.0.1:9000"} 7
minio_bucket_traffic_received_bytes{bucket="ours",server="127.0.0.1:9000"} 1.5e+06
minio_bucket_traffic_sent_bytes{bucket="ours",server="127.0.0.1:9000"} 500
"""


def test_a_bucket_s_requests_are_counted_as_they_are_billed() -> None:
    """Parts are PUTs, and another bucket's requests are another's."""
    found = traffic.parse(METRICS, "ours")
    assert found.requests == {"put": 21, "get": 0, "head": 0, "list": 2, "delete": 3}
    assert (found.bytes_in, found.bytes_out) == (1_500_000, 500)


def test_a_month_has_a_batch_each_ten_seconds() -> None:
    """Two PUTs a batch: 518,400 of them, at 0.005 dollars a thousand."""
    two_puts = Traffic(requests={"put": 2, "get": 0, "head": 0, "list": 0, "delete": 0})
    assert two_puts.usd_per_month() == pytest.approx(2.592)


@pytest.fixture
def endpoint() -> Iterator[str]:
    """A server that answers with what it was sent, on connections that are kept."""

    class Echo(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_PUT(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_the_proxy_holds_each_request_once(endpoint: str) -> None:
    """However large it is, and although the connection stays."""
    body = b"x" * 1_000_000
    with latency.running(endpoint, 0.05) as proxy:
        connection = http.client.HTTPConnection(urlsplit(proxy).netloc, timeout=10)
        started = time.monotonic()
        for _ in range(3):
            connection.request("PUT", "/key", body=body)
            assert connection.getresponse().read() == body
        took = time.monotonic() - started
        connection.close()
    assert 0.15 <= took < 0.15 + 2


def test_everybody_runs_once_a_round_and_begins_one() -> None:
    """So that no one always runs after the same other."""
    order = list(turns(["a", "b", "c"], 3))
    assert order == [["a", "b", "c"], ["b", "c", "a"], ["c", "a", "b"]]


def test_a_slope_is_the_exponent() -> None:
    """0 for what is flat, 1 for what is proportional."""
    assert growth.slope({10: 5.0, 100: 5.0, 1000: 5.0}) == pytest.approx(0)
    assert growth.slope({10: 1.0, 100: 10.0, 1000: 100.0}) == pytest.approx(1)


def test_of_few_values_the_highest_is_the_95th_percentile() -> None:
    """And of a hundred, the 96th smallest."""
    assert figures.percentile([3, 1, 2], 95) == 3
    assert figures.percentile(list(range(100)), 95) == 95


def test_the_readme_s_figures_are_those_that_were_kept() -> None:
    """Written by `make bench-plot` and by nobody else: outside the marks no figure is named."""
    text = plot.README.read_text()
    if plot.KEPT.exists() or markdown.BEGIN in text:
        block = markdown.block(json.loads(plot.KEPT.read_text()))
        assert block in text
        text = text.replace(block, "")
    named = re.findall(r"\d[\d.,]* ?(?:ms|s|seconds|requests|×|times|%)\b|\$ ?\d", text)  # noqa: RUF001 - the sign of a ratio
    assert named == []


def test_a_readme_without_marks_stays_as_it_is() -> None:
    """And one with marks has the table between them."""
    document = example()
    assert markdown.put_into("text", document) == "text"
    marked = f"a {markdown.BEGIN} stale {markdown.END} b"
    renewed = markdown.put_into(marked, document)
    assert (renewed[:2], renewed[-2:]) == ("a ", " b")
    assert "stale" not in renewed
    assert "| **Holdfast, MinIO** | 0 | 105 | 0.5 |" in " ".join(renewed.replace("→", "").split())


def test_the_readme_tells_of_clusters_and_large_state_what_was_measured() -> None:
    """And nothing of what was not."""
    document = example()
    assert "executors" not in markdown.block(document)
    (cluster,) = (each for each in SETTINGS if each.name == "cluster-200")
    found = figures.summary(cluster, {name: taken(name) for name in cluster.contenders})
    document["settings"]["cluster-200"] = found
    document["single"] = {"large-state": {"save_of_s3a": 1.125, "load_of_s3a": 2.0}}
    text = markdown.block(document)
    assert "a batch takes 105 ms on MinIO, 105 with S3A's" in text
    assert "at 1.12 x the rate of S3A, and comes back at 2.00 x" in text


def test_the_picture_shows_every_contender_and_is_well_formed() -> None:
    """In a setting where not all have requests."""
    root = ET.fromstring(plot.draw(example()))
    shown = {element.text for element in root.iter("{http://www.w3.org/2000/svg}text")}
    assert set(TITLES.values()) <= shown


def test_of_a_cluster_much_is_required_where_partitions_are_many() -> None:
    """By the floor and by S3A; with few, only that a restart's requests do not grow."""
    found = {
        each.name: figures.summary(each, {name: taken(name) for name in each.contenders})
        for each in SETTINGS
        if each.is_cluster
    }
    shown = [(each.unit, each.measured, each.required) for each in figures.required(found, 30.0)]
    assert shown == [("x floor", 1, 1.2), ("x S3A", 1, 0.5), ("x S3A", 1, 0.25)]
    (more,) = figures.required_restarts(found)
    assert (more.measured, more.holds) == (0, True)
    assert tables.setting_table(found["cluster-200"]).row_count == 3


def test_what_is_measured_once_is_beside_what_is_required() -> None:
    """Each ratio by itself: one that holds makes no other hold."""
    state = {"save_of_put": 0.8, "save_of_s3a": 0.9, "load_of_get": 0.6, "load_of_s3a": 2.0}
    load = {"messages": 2_000.0, "files": 2_000.0}
    found = list(single.required({"large-state": state, "driver-load": load}))
    assert [each.holds for each in found] == [True, False, False, True, True]


def test_a_rate_is_compared_within_its_round() -> None:
    """The shorter time is the better; a slow round slows both, and says nothing."""
    rounds = [{"put": 8.0, "save": 10.0}, {"put": 80.0, "save": 100.0}, {"put": 8.0, "save": 9.0}]
    assert movement._ratio(rounds, "put", "save") == 0.8


def taken(name: str) -> Taken:
    """What a contender did, in one round of two batches."""
    return Taken(
        batch_ms=[[100.0, 110.0]],
        restart_ms=[500.0],
        cpu_ms=[80.0],
        per_batch=Traffic() if "s3" in name else None,
        per_restart=Traffic() if "s3" in name else None,
    )


def example() -> dict[str, Any]:
    """As a run would have written it, of one setting."""
    return {
        "machine": {"cores": 2},
        "versions": {
            "spark": "4.3.0",
            "holdfast": "0.1.0",
            "java": "17",
            "python": "3.11",
            "hadoop-aws": "3.5.0",
        },
        "date": "2026-11-16 13:00 UTC",
        "prices": figures.PRICE,
        "settings": {
            "hdfs-10": figures.summary(SETTINGS[0], {name: taken(name) for name in TITLES})
        },
    }
