"""Connections for botocore that end at a deadline and read no more bytes than they may.

botocore's own timeouts are per socket operation: a server that sends a byte now and then keeps a
request alive without end. Here every socket operation gets what remains of the request's time:
looking up the name, connecting, the TLS handshake, sending, and receiving headers and body. The
connections are pooled and reused as before.

A request runs on the thread that asked for it, so its limits are kept per thread: `limited` sets
them around a call of the client, and the connections look them up.
"""

from __future__ import annotations

import contextlib
import http.client
import io
import socket
import threading
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import TYPE_CHECKING, Any, TypeAlias

from botocore.awsrequest import (
    AWSHTTPConnection,
    AWSHTTPConnectionPool,
    AWSHTTPSConnection,
    AWSHTTPSConnectionPool,
)
from urllib3.exceptions import ConnectTimeoutError, NewConnectionError
from urllib3.util.connection import allowed_gai_family

from holdfast.settings import KIB, MIB

if TYPE_CHECKING:
    from collections.abc import Iterator

    from typing_extensions import Buffer

    from holdfast.clock import Deadline

ANSWER_BYTES_MAX = 16 * MIB  # a page of a listing has at most a few
_HEADER_BYTES_MAX = 256 * KIB
_SEND_BYTES = MIB
_TIMEOUT_MIN_S = 0.001  # 0 would mean: do not block


class Limits:
    """How long one request may take, and how many bytes its answer may have.

    `exceeded` says which limit ended the request, if one did.
    """

    def __init__(
        self, *, deadline: Deadline | None, step_s: float, bytes_max: int = ANSWER_BYTES_MAX
    ) -> None:
        self._deadline = deadline
        self._step_s = step_s
        self._bytes_left = bytes_max + _HEADER_BYTES_MAX
        self.exceeded = ""

    def step_s(self, at_most_s: float | None = None) -> float:
        """How long the next socket operation may take.

        Raises:
            TimeoutError: no time is left.
        """
        step_s = self._step_s if at_most_s is None else at_most_s
        if self._deadline is None:
            return step_s
        remaining_s = self._deadline.remaining_s()
        if remaining_s <= 0:
            self.exceeded = "the request was still under way at its deadline"
            raise TimeoutError(self.exceeded)
        return max(_TIMEOUT_MIN_S, min(step_s, remaining_s))

    def received(self, count: int) -> None:
        """Count bytes of the answer.

        Raises:
            OSError: there are more than there may be.
        """
        self._bytes_left -= count
        if self._bytes_left < 0:
            self.exceeded = "the answer has more bytes than it may have"
            raise OSError(self.exceeded)


class _Current(threading.local):
    limits: Limits | None = None


_CURRENT = _Current()


@contextlib.contextmanager
def limited(limits: Limits) -> Iterator[None]:
    """Every request that this thread sends meanwhile has these limits."""
    before, _CURRENT.limits = _CURRENT.limits, limits
    try:
        yield
    finally:
        _CURRENT.limits = before


def limit_connections(client: Any) -> None:  # noqa: ANN401 - botocore makes its class when it runs
    """Have a client of botocore send everything over connections that keep to the limits."""
    pools = client._endpoint.http_session._pool_classes_by_scheme  # noqa: SLF001 - there is no public way
    pools.update({"http": _Pool, "https": _TlsPool})


class _Reader(io.RawIOBase):
    """Reads a socket, each time for no longer than may be."""

    def __init__(self, raw: io.RawIOBase, sock: socket.socket, limits: Limits) -> None:
        self._raw = raw
        self._sock = sock
        self._limits = limits

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer) -> int | None:
        self._sock.settimeout(self._limits.step_s())
        count = self._raw.readinto(buffer)
        self._limits.received(count or 0)
        return count

    def close(self) -> None:
        self._raw.close()
        super().close()


class _Response(http.client.HTTPResponse):
    """An answer that is read within the limits of the request it belongs to."""

    def __init__(self, sock: socket.socket, *arguments: Any, **options: Any) -> None:  # noqa: ANN401 - passed on
        super().__init__(sock, *arguments, **options)
        limits = _CURRENT.limits
        if limits is not None:
            raw = self.fp.detach()
            self.fp = io.BufferedReader(_Reader(raw, sock, limits))


_Address: TypeAlias = "tuple[Any, ...]"


class _Limited:
    """What is the same for plain connections and for TLS; mixed in before botocore's classes."""

    response_class: Any = _Response
    sock: Any
    timeout: Any
    port: int
    _dns_host: str
    _response_received: bool

    def _new_conn(self) -> socket.socket:
        """Connect, one address at a time: urllib3 gives the whole timeout to each of them."""
        limits = _CURRENT.limits
        if limits is None:
            return self._connect()
        host, timeout = self._dns_host, self.timeout
        failure: Exception | None = None
        try:
            for address in _look_up(host.strip("[]"), self.port, limits.step_s()):
                self._dns_host, self.timeout = address, limits.step_s(timeout)
                try:
                    sock = self._connect()
                except (NewConnectionError, ConnectTimeoutError) as error:
                    failure = error
                else:
                    sock.settimeout(limits.step_s(timeout))  # for the TLS handshake
                    return sock
        finally:
            self._dns_host, self.timeout = host, timeout
        raise failure or socket.gaierror(f"{host} has no address")

    def _connect(self) -> socket.socket:
        made: socket.socket = super()._new_conn()  # type: ignore[misc]  # urllib3's connection
        return made

    def send(self, data: Any) -> None:  # noqa: ANN401 - bytes, or a file of them
        """Send all of it, each piece for no longer than may be."""
        limits = _CURRENT.limits
        if limits is None or self._response_received:
            super().send(data)  # type: ignore[misc]  # botocore's connection
            return
        if self.sock is None:
            self.connect()  # type: ignore[attr-defined]  # urllib3's connection
        if hasattr(data, "read"):
            while piece := data.read(_SEND_BYTES):
                self._send_all(memoryview(piece), limits)
        else:
            self._send_all(memoryview(data), limits)

    def _send_all(self, view: memoryview, limits: Limits) -> None:
        while view:
            self.sock.settimeout(limits.step_s())
            view = view[self.sock.send(view[:_SEND_BYTES]) :]


def _look_up(host: str, port: int, seconds: float) -> list[str]:
    """The addresses of a host, on a thread of its own: a resolver takes as long as it likes.

    Raises:
        OSError: it has none, or the resolver does not answer in time.
    """
    found: Future[list[_Address]] = Future()

    def ask() -> None:
        try:
            found.set_result(
                socket.getaddrinfo(host, port, allowed_gai_family(), socket.SOCK_STREAM)
            )
        except BaseException as error:  # noqa: BLE001 - handed to who waits
            found.set_exception(error)

    try:
        answers = socket.getaddrinfo(host, port, flags=socket.AI_NUMERICHOST)
    except socket.gaierror:
        threading.Thread(target=ask, name="holdfast-resolver", daemon=True).start()
        try:
            answers = found.result(seconds)
        except FutureTimeoutError:
            raise TimeoutError(f"the address of {host} was not found in time") from None
    return list(dict.fromkeys(str(answer[4][0]) for answer in answers))


class _Connection(_Limited, AWSHTTPConnection):  # type: ignore[misc]  # as botocore's own mixin
    """Plain HTTP."""


class _TlsConnection(_Limited, AWSHTTPSConnection):  # type: ignore[misc]  # as above
    """HTTP over TLS."""


class _Pool(AWSHTTPConnectionPool):
    ConnectionCls = _Connection


class _TlsPool(AWSHTTPSConnectionPool):
    ConnectionCls = _TlsConnection
