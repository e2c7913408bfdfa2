"""Servers that stall: they answer by the byte, or take a request and never read its body."""

from __future__ import annotations

import socket
import ssl
import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from typing_extensions import Self

BYTES = 1 << 16
HEAD = f"HTTP/1.1 200 OK\r\nContent-Length: {BYTES}\r\n\r\n".encode()
_PAUSE_SECONDS = 0.05


class DrippingServer:
    """One behaviour for each connection, in turn, and the last one for all that follow."""

    def __init__(
        self, *behaviours: Callable[[socket.socket], None], pem: Path | None = None
    ) -> None:
        self._behaviours = list(behaviours)
        self._context = None
        if pem is not None:
            self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self._context.load_cert_chain(pem)
        self._socket = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._serve, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    @property
    def url(self) -> str:
        scheme = "http" if self._context is None else "https"
        return f"{scheme}://127.0.0.1:{self._socket.getsockname()[1]}/key"

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return  # the test is over
            behave = self._behaviours.pop(0) if len(self._behaviours) > 1 else self._behaviours[0]
            threading.Thread(target=self._behave, args=(behave, connection), daemon=True).start()

    def _behave(self, behave: Callable[[socket.socket], None], connection: socket.socket) -> None:
        try:
            if self._context is not None:
                connection = self._context.wrap_socket(connection, server_side=True)
            behave(connection)
        except OSError:
            return  # the client has given up
        finally:
            connection.close()


def answer_whole(connection: socket.socket) -> None:
    connection.recv(65536)
    connection.sendall(HEAD + bytes(BYTES))
    connection.recv(1)


def answer_steadily(connection: socket.socket) -> None:
    """Slowly, but faster than the least that is asked for."""
    connection.recv(65536)
    connection.sendall(HEAD)
    for _ in range(0, BYTES, 4096):
        time.sleep(_PAUSE_SECONDS)
        connection.sendall(bytes(4096))
    connection.recv(1)


def drip_body(connection: socket.socket) -> None:
    """Half of it at once, the rest by the byte; each read of the client gets something."""
    connection.recv(65536)
    connection.sendall(HEAD + bytes(BYTES // 2))
    _drip(connection, b"\x01" * (BYTES // 2))


def drip_headers(connection: socket.socket) -> None:
    connection.recv(65536)
    _drip(connection, HEAD[:-2] + b"X-Padding: " + b"x" * BYTES)


def read_nothing(connection: socket.socket) -> None:
    """The client's writes fill the buffers in between, and then block."""
    connection.recv(1)
    time.sleep(600)


def _drip(connection: socket.socket, text: bytes) -> None:
    for at in range(len(text)):
        connection.sendall(text[at : at + 1])
        time.sleep(_PAUSE_SECONDS)
