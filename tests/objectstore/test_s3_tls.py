"""An endpoint with a certificate that nobody vouches for: configuration, not patience."""

from __future__ import annotations

import datetime as dt
import ipaddress
import ssl
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from holdfast.errors import ConfigError
from holdfast.objectstore import open_store, probe

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def _self_signed() -> bytes:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "stranger")])
    now = dt.datetime.now(dt.timezone.utc)
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), 1)
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    private = key.private_bytes(
        pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return private + certificate.public_bytes(pem)


class _Quiet(HTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up is what the test is about."""


@pytest.fixture
def stranger(tmp_path: Path) -> Iterator[str]:
    """An HTTPS endpoint with a certificate of its own making."""
    pem = tmp_path / "stranger.pem"
    pem.write_bytes(_self_signed())
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
