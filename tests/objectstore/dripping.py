"""Servers that never come to an end: they send, or read, a few bytes at a time, or too many."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_PAUSE_S = 0.05
_OK = b'HTTP/1.1 200 OK\r\nETag: "e"\r\n'


class Manner(Enum):
    """What the server does with a request."""

    NO_ANSWER = "sends nothing"
    SLOW_HEADERS = "sends a byte of a header now and then"
    SLOW_BODY = "sends a byte of the body now and then"
    SLOW_READER = "reads the request a few bytes at a time"
    NO_HANDSHAKE = "accepts the connection and does nothing"
    ENDLESS = "sends a body without a length and without an end"
    HUGE = "promises a body of a terabyte"


class DrippingServer:
    """Listens on 127.0.0.1 and treats every connection in one manner."""

    def __init__(self, manner: Manner, pem: Path | None = None) -> None:
        self._manner = manner
        self._closing = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._connections: list[socket.socket] = []
        self._tls: ssl.SSLContext | None = None
        if pem is not None:
            self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self._tls.load_cert_chain(pem)
        self._thread = threading.Thread(target=self._accept)
        self._thread.start()

    @property
    def endpoint(self) -> str:
        scheme = "http" if self._tls is None else "https"
        return f"{scheme}://127.0.0.1:{self._listener.getsockname()[1]}"

    def close(self) -> None:
        self._closing.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for connection in self._connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self._thread.join()

    def _accept(self) -> None:
        handlers = []
        with contextlib.suppress(OSError):
            while not self._closing.is_set():
                connection, _ = self._listener.accept()
                self._connections.append(connection)
                handlers.append(threading.Thread(target=self._serve, args=(connection,)))
                handlers[-1].start()
        for handler in handlers:
            handler.join()

    def _serve(self, connection: socket.socket) -> None:
        """Until the client hangs up, or the test is over."""
        with contextlib.suppress(OSError), connection:
            if self._manner is Manner.NO_HANDSHAKE:
                self._closing.wait()
                return
            if self._tls is not None:
                connection = self._tls.wrap_socket(connection, server_side=True)
                self._connections.append(connection)
            with connection:
                self._answer(connection)

    def _answer(self, connection: socket.socket) -> None:
        if self._manner is Manner.SLOW_READER:
            while connection.recv(4096) and not self._closing.wait(_PAUSE_S):
                pass
            return
        connection.recv(65536)
        if self._manner is Manner.SLOW_HEADERS:
            connection.sendall(_OK + b"X-Slow: ")
            self._drip(connection)
        elif self._manner is Manner.SLOW_BODY:
            connection.sendall(_OK + b"Content-Length: 100000\r\n\r\n")
            self._drip(connection)
        elif self._manner is Manner.HUGE:
            connection.sendall(_OK + b"Content-Length: 1099511627776\r\n\r\n")
            self._drip(connection)
        elif self._manner is Manner.ENDLESS:
            connection.sendall(_OK + b"Connection: close\r\n\r\n")
            while not self._closing.is_set():
                connection.sendall(b"x" * 65536)
        else:
            self._closing.wait()

    def _drip(self, connection: socket.socket) -> None:
        while not self._closing.wait(_PAUSE_S):
            connection.sendall(b"x")
