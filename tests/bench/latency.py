"""A proxy that holds every request for a while: an object store that is farther away.

It reads one HTTP/1.1 request after the other on each connection, waits once per request, and
passes everything on as it came; answers are not delayed. Listens on 127.0.0.1 only.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterator

_HEAD_END = b"\r\n\r\n"
_HEAD_BYTES_MAX = 1 << 16
_CHUNK_BYTES = 1 << 16
_LENGTH = re.compile(rb"\r\ncontent-length:\s*(\d+)", flags=re.IGNORECASE)


class LatencyProxy:
    """In front of one server."""

    def __init__(self, upstream: str, latency_s: float) -> None:
        parts = urlsplit(upstream)
        self._host, self._port = parts.hostname or "", parts.port or 80
        self.latency_s = latency_s
        self.requests = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, until either side ends it."""
        try:
            server_reader, server_writer = await asyncio.open_connection(
                self._host, self._port, limit=_HEAD_BYTES_MAX
            )
        except OSError:
            writer.close()
            return
        answers = asyncio.create_task(_copy(server_reader, writer))
        try:
            while True:
                await self._one_request(reader, server_writer)
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass  # the client has ended it, or the bench has
        finally:
            server_writer.close()
            writer.close()
            answers.cancel()

    async def _one_request(
        self, reader: asyncio.StreamReader, server: asyncio.StreamWriter
    ) -> None:
        head = await reader.readuntil(_HEAD_END)
        self.requests += 1
        await asyncio.sleep(self.latency_s)
        server.write(head)
        found = _LENGTH.search(head)
        left = int(found[1]) if found else 0
        while left:
            chunk = await reader.read(min(left, _CHUNK_BYTES))
            if not chunk:
                raise ConnectionResetError
            server.write(chunk)
            await server.drain()
            left -= len(chunk)
        await server.drain()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while chunk := await reader.read(_CHUNK_BYTES):
            writer.write(chunk)
            await writer.drain()
    writer.close()


@contextlib.contextmanager
def running(upstream: str, latency_s: float) -> Iterator[str]:
    """The proxy on a thread of its own; gives its endpoint."""
    proxy = LatencyProxy(upstream, latency_s)
    started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event, int]] = Future()
    thread = threading.Thread(
        target=lambda: asyncio.run(_until_stopped(proxy, started)),
        name="latency-proxy",
        daemon=True,
    )
    thread.start()
    loop, stop, port = started.result(timeout=10)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(timeout=10)


async def _until_stopped(
    proxy: LatencyProxy, started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event, int]]
) -> None:
    """Serve; connections that are open at the end are cut."""
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0, limit=_HEAD_BYTES_MAX)
    stop = asyncio.Event()
    started.set_result((asyncio.get_running_loop(), stop, server.sockets[0].getsockname()[1]))
    await stop.wait()
    server.close()
