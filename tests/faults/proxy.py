"""A proxy between a client and a real S3 server that spoils requests by a script.

The Host header is passed on as it came, so signatures stay valid.
"""

from __future__ import annotations

import contextlib
import http.client
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from tests.faults.rules import CODES, Act, Rule, Script, describe

if TYPE_CHECKING:
    from collections.abc import Iterator

_HOP = {"connection", "keep-alive", "transfer-encoding", "te", "upgrade", "proxy-authorization"}


class FaultProxy(ThreadingHTTPServer):
    """Listens on 127.0.0.1; `script` says what goes wrong, `log` what was asked."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, endpoint: str, *, latency_s: float = 0) -> None:
        parts = urlsplit(endpoint)
        self.upstream = (parts.hostname or "", parts.port or 80)
        self.latency_s = latency_s
        self.script = Script()
        self.lists: dict[str, bytes] = {}
        self.log: list[tuple[str, str]] = []
        super().__init__(("127.0.0.1", 0), _Handler)

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that went away is part of the game."""


@contextlib.contextmanager
def fault_proxy(endpoint: str, *, latency_s: float = 0) -> Iterator[FaultProxy]:
    """A proxy for as long as the block lasts."""
    proxy = FaultProxy(endpoint, latency_s=latency_s)
    thread = threading.Thread(
        target=proxy.serve_forever, daemon=True, kwargs={"poll_interval": 0.1}
    )
    thread.start()
    try:
        yield proxy
    finally:
        proxy.shutdown()
        proxy.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: FaultProxy

    def setup(self) -> None:
        super().setup()
        self.request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._connection: http.client.HTTPConnection | None = None

    def finish(self) -> None:
        if self._connection is not None:
            self._connection.close()
        with contextlib.suppress(OSError):
            super().finish()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        """Quiet."""

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        verb, key = describe(self.command, self.path, body)
        self.server.log.append((verb, key))
        if self.server.latency_s:
            time.sleep(self.server.latency_s)
        rule = self.server.script.find(verb, key)
        if rule is None:
            self._answer(*self._forward(body), remember=verb == "list")
        else:
            self._spoil(rule, body)

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = _serve  # noqa: N815 - the base's names

    def _spoil(self, rule: Rule, body: bytes) -> None:
        act = rule.act
        if act in CODES:
            self._error(*CODES[act])
        elif act is Act.LOSE_REQUEST:
            self._drop()
        elif act is Act.LOSE_REPLY:
            self._forward(body)
            self._drop()
        elif act is Act.DUPLICATE:
            self._forward(body)
            self._answer(*self._forward(body))
        elif act is Act.SLOW:
            time.sleep(rule.seconds)
            self._answer(*self._forward(body))
        elif act is Act.HALF_OPEN:
            self._forward(body)
            time.sleep(rule.seconds)
            self._drop()
        elif act is Act.TRUNCATE:
            self._truncate(body)
        elif act is Act.LATE:
            self._drop()
            time.sleep(rule.seconds)
            self._forward(body)
        elif act is Act.STALE_LIST:
            self._stale(body)

    def _forward(self, body: bytes) -> tuple[int, list[tuple[str, str]], bytes]:
        """Send the request on; one more try on a new connection, for idle ones are closed."""
        for fresh in (False, True):
            if self._connection is not None and fresh:
                self._connection.close()
            if self._connection is None or fresh:
                self._connection = self._connected()
            try:
                self._send(self._connection, body)
                reply = self._connection.getresponse()
                return reply.status, reply.getheaders(), reply.read()
            except (OSError, http.client.HTTPException):
                if fresh:
                    raise
        raise AssertionError("a loop of two returns or raises")

    def _connected(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(*self.server.upstream, timeout=60)

    def _send(self, connection: http.client.HTTPConnection, body: bytes) -> None:
        connection.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in self.headers.items():
            if name.lower() not in (*_HOP, "expect"):
                connection.putheader(name, value)
        connection.endheaders(body or None)

    def _truncate(self, body: bytes) -> None:
        """Half of a body that is sent reaches the server, or half of its answer the client."""
        if not body:
            self._answer(*self._forward(body), cut=True)
            return
        connection = self._connected()
        try:
            self._send(connection, body[: len(body) // 2])
        finally:
            connection.close()
            self._drop()

    def _answer(
        self,
        status: int,
        headers: list[tuple[str, str]],
        body: bytes,
        *,
        cut: bool = False,
        remember: bool = False,
    ) -> None:
        if remember and status == http.HTTPStatus.OK:
            self.server.lists.setdefault(self.path, body)
        self.send_response_only(status)
        length = {name.lower(): value for name, value in headers}.get("content-length")
        for name, value in headers:
            if name.lower() not in (*_HOP, "content-length"):
                self.send_header(name, value)
        self.send_header(
            "Content-Length", length if self.command == "HEAD" and length else str(len(body))
        )
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body[: len(body) // 2] if cut else body)
        if cut:
            self._drop()

    def _stale(self, body: bytes) -> None:
        """The first answer that this very list ever had."""
        fresh = self._forward(body)
        self._answer(fresh[0], fresh[1], self.server.lists.get(self.path, fresh[2]))

    def _error(self, status: int, code: str) -> None:
        text = (
            f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>by script</Message></Error>"
        )
        headers = [("Content-Type", "application/xml")]
        self._answer(status, headers, b"" if self.command == "HEAD" else text.encode())

    def _drop(self) -> None:
        """Close without a word."""
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)
