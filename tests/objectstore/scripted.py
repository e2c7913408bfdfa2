"""An HTTP server that answers by script and remembers what it was asked: real bytes, no mocks."""

from __future__ import annotations

import sys
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

ETAG = {"ETag": '"etag-1"'}


@dataclass(frozen=True, kw_only=True)
class Reply:
    """One answer; `cut` breaks it off after so many bytes of body, `silent` sends nothing."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: int | None = None
    silent: bool = False


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One request, as it came; header names are lowercase, `port` is the client's."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    port: int


def error(code: str, status: int, **fields: str) -> Reply:
    """An error as S3 writes it."""
    more = "".join(f"<{name}>{value}</{name}>" for name, value in fields.items())
    text = f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>words</Message>{more}</Error>"
    return Reply(status=status, body=text.encode(), headers={"Content-Type": "application/xml"})


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hung up is what some tests are about; anything else is told."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class ScriptedServer:
    """Gives its replies in turn, and the last one for ever."""

    def __init__(self, *replies: Reply, port: int = 0) -> None:
        self.asked: list[Asked] = []
        self._replies = list(replies)
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._server = _Server(("127.0.0.1", port), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def then(self, *replies: Reply) -> None:
        """What it answers from now on."""
        self._replies = list(replies)

    def close(self) -> None:
        self._closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _next(self, asked: Asked) -> Reply:
        with self._lock:
            self.asked.append(asked)
            return self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        script = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_one_request(self) -> None:
                self.raw_requestline = self.rfile.readline(65537)
                if not self.raw_requestline or not self.parse_request():
                    self.close_connection = True
                    return
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                headers = {name.lower(): value for name, value in self.headers.items()}
                asked = Asked(
                    method=self.command,
                    path=self.path,
                    headers=headers,
                    body=body,
                    port=self.client_address[1],
                )
                self.answer(script._next(asked))

            def answer(self, reply: Reply) -> None:
                if reply.silent:
                    script._closing.wait(10)
                    self.close_connection = True
                    return
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                if "Content-Length" not in reply.headers:
                    self.send_header("Content-Length", str(len(reply.body)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(reply.body[: reply.cut])
                self.close_connection = reply.cut is not None

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name
                del format, args

        return Handler
