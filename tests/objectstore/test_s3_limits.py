"""A request to S3 ends at its deadline and reads no more bytes than it may, whatever comes."""

from __future__ import annotations

import socket
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from holdfast.clock import SYSTEM_CLOCK, Deadline
from holdfast.errors import CorruptionError, UnavailableError
from holdfast.objectstore import RetryingStore
from holdfast.objectstore.s3 import S3Store
from holdfast.settings import DOCUMENT_BYTES_MAX, RetrySettings, S3Settings
from tests.certificates import self_signed
from tests.objectstore.dripping import DrippingServer, Manner
from tests.objectstore.scripted import ETAG, Reply, ScriptedServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Connect = Callable[..., S3Store]

DEADLINE_S = 0.7
PATIENCE_S = 5.0  # beyond the deadline: machines are slow, but a drip would last for minutes
BODY = b"x" * 20_000_000  # more than what fits into socket buffers


@pytest.fixture(scope="module")
def pem(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tls") / "server.pem"
    path.write_bytes(self_signed())
    return path


@pytest.fixture(params=["http", "https"])
def dripping(
    request: pytest.FixtureRequest, pem: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[Manner], S3Store]]:
    """Opens a store at a server of this manner, over plain HTTP and over TLS."""
    tls, servers = request.param == "https", []
    monkeypatch.setenv("AWS_CA_BUNDLE", str(pem))

    def connect(manner: Manner) -> S3Store:
        server = DrippingServer(manner, pem if tls else None)
        servers.append(server)
        settings = S3Settings(endpoint_url=server.endpoint, access_key="A", secret_key="b")
        return S3Store("bucket", settings=settings)

    yield connect
    for server in servers:
        server.close()


REQUESTS: dict[str, Callable[[Any], object]] = {
    "put": lambda store: store.put("key", b"body"),
    "put large": lambda store: store.put("key", memoryview(BODY)),
    "get": lambda store: store.get("key"),
    "list": lambda store: store.list(),
}
ENDLESS = [
    ("put", Manner.NO_ANSWER),
    ("put", Manner.SLOW_HEADERS),
    ("put", Manner.SLOW_BODY),
    ("put", Manner.NO_HANDSHAKE),
    ("put large", Manner.SLOW_READER),
    ("get", Manner.SLOW_HEADERS),
    ("get", Manner.SLOW_BODY),
    ("list", Manner.SLOW_BODY),
]


@pytest.mark.parametrize(("request_name", "manner"), ENDLESS, ids=str)
def test_a_request_ends_at_its_deadline(
    dripping: Callable[[Manner], S3Store], request_name: str, manner: Manner
) -> None:
    """Bytes that keep coming do not prolong it: botocore's own timeouts begin anew with each."""
    deadline = Deadline.after(DEADLINE_S, clock=SYSTEM_CLOCK)
    store = dripping(manner).within(deadline)
    began = time.monotonic()
    with pytest.raises(UnavailableError):
        REQUESTS[request_name](store)
    assert time.monotonic() - began < DEADLINE_S + PATIENCE_S


@pytest.mark.parametrize("request_name", ["put", "get", "list"])
def test_an_endless_answer_is_not_kept_in_memory(
    dripping: Callable[[Manner], S3Store], monkeypatch: pytest.MonkeyPatch, request_name: str
) -> None:
    """More bytes than an answer may have are an error, long before the deadline."""
    monkeypatch.setattr("holdfast.objectstore.s3.DOCUMENT_BYTES_MAX", 100_000)
    store = dripping(Manner.ENDLESS).within(Deadline.after(60, clock=SYSTEM_CLOCK))
    with pytest.raises(UnavailableError, match="more bytes"):
        REQUESTS[request_name](store)


def test_a_promised_terabyte_is_not_read(dripping: Callable[[Manner], S3Store]) -> None:
    """The headers say enough."""
    store = dripping(Manner.HUGE).within(Deadline.after(60, clock=SYSTEM_CLOCK))
    with pytest.raises(CorruptionError, match="too large") as caught:
        store.get("key")
    assert caught.value.details["bytes_max"] == DOCUMENT_BYTES_MAX


def test_a_server_without_ranges_is_read_no_further_than_asked(
    dripping: Callable[[Manner], S3Store],
) -> None:
    """The rest of a terabyte stays where it is."""
    store = dripping(Manner.HUGE).within(Deadline.after(60, clock=SYSTEM_CLOCK))
    assert store.get("key", start=1, length=3).body == b"xxx"


def test_an_answer_longer_than_its_range_is_refused(
    server: ScriptedServer, connect: Connect
) -> None:
    """A server that sends ten bytes for three cannot be right about the rest."""
    headers = {**ETAG, "Content-Range": "bytes 0-2/10"}
    server.then(Reply(status=206, body=b"0123456789", headers=headers))
    with pytest.raises(UnavailableError, match="another range"):
        connect().get("key", length=3)


@pytest.mark.parametrize("manner", [Manner.SLOW_HEADERS, Manner.SLOW_BODY], ids=str)
def test_a_store_without_a_deadline_gives_up_too(
    dripping: Callable[[Manner], S3Store], manner: Manner
) -> None:
    """The retries bring the deadline along, for a single request too."""
    store = RetryingStore(dripping(manner), settings=RetrySettings(seconds=DEADLINE_S))
    began = time.monotonic()
    with pytest.raises(UnavailableError, match=f"gave up after {DEADLINE_S} s"):
        store.list()
    assert time.monotonic() - began < DEADLINE_S + PATIENCE_S


def test_a_resolver_that_does_not_answer_is_not_waited_for(
    connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Looking up a name has no timeout of its own."""
    look_up, over = socket.getaddrinfo, threading.Event()

    def hang(*arguments: Any, **options: Any) -> Any:
        if not options.get("flags"):
            over.wait(60)
        return look_up(*arguments, **options)

    store = connect(endpoint_url="http://store.invalid:9000")
    monkeypatch.setattr(socket, "getaddrinfo", hang)
    began = time.monotonic()
    with pytest.raises(UnavailableError):
        store.within(Deadline.after(DEADLINE_S, clock=SYSTEM_CLOCK)).list()
    over.set()
    assert time.monotonic() - began < DEADLINE_S + PATIENCE_S


def test_every_address_of_a_host_is_tried(
    server: ScriptedServer, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first one refuses connections, the second one answers."""
    port = int(server.endpoint.rpartition(":")[2])
    look_up = socket.getaddrinfo

    def two(host: str, *arguments: Any, **options: Any) -> Any:
        if host != "store.test":
            return look_up(host, *arguments, **options)
        if options.get("flags"):
            raise socket.gaierror(host)
        return [(*[None] * 4, (address, port)) for address in ("127.0.0.2", "127.0.0.1")]

    monkeypatch.setattr(socket, "getaddrinfo", two)
    store = connect(endpoint_url=f"http://store.test:{port}")
    assert store.within(Deadline.after(10, clock=SYSTEM_CLOCK)).head("key").etag == "etag-1"
    assert server.asked[0].headers["host"] == f"store.test:{port}"


def test_connections_are_used_again(server: ScriptedServer, connect: Connect) -> None:
    """With a deadline and without one, whatever the verb: one connection serves them all."""
    store = RetryingStore(connect())
    for deadline_s in (5, 10):
        bound = store.within(Deadline.after(deadline_s, clock=SYSTEM_CLOCK))
        for each in (bound, store):
            each.put("key", b"body")
            each.get("key")
            each.head("key")
    assert len(server.asked) == 12
    assert len({asked.port for asked in server.asked}) == 1
