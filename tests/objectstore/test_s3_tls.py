"""An endpoint with a certificate that nobody vouches for: configuration, not patience."""

from __future__ import annotations

import ssl
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING

import pytest

from holdfast.errors import ConfigError
from holdfast.objectstore import open_store, probe
from tests.certificates import self_signed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class _Quiet(HTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up is what the test is about."""


@pytest.fixture
def stranger(tmp_path: Path) -> Iterator[str]:
    """An HTTPS endpoint with a certificate of its own making."""
    pem = tmp_path / "stranger.pem"
    pem.write_bytes(self_signed())
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    with _Quiet(("127.0.0.1", 0), BaseHTTPRequestHandler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"https://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_an_untrusted_certificate_is_told_at_once(stranger: str) -> None:
    """With what to set, and without retries."""
    store = open_store(f"s3://AKIA:x@bucket?endpoint_url={stranger}")
    with pytest.raises(ConfigError, match="AWS_CA_BUNDLE"):
        probe(store)
