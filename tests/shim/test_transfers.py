"""A store that stalls holds no task without bound: each attempt must move so many bytes."""

from __future__ import annotations

import subprocess
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from tests.certificates import self_signed
from tests.shim import dripping
from tests.shim.dripping import DrippingServer
from tests.shim.main import run_main

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.spark
SLOW = "UnavailableError: a large file moves too slowly: key, "
BEHAVIOURS = {
    "a body by the byte": dripping.drip_body,
    "headers by the byte": dripping.drip_headers,
    "upload to who reads nothing": dripping.read_nothing,
    "interrupt of a drip": dripping.drip_body,
    "a steady body": dripping.answer_steadily,
}
TRUST = "changeit"


def test_a_server_that_stalls_or_drips_fails_the_attempt(tmp_path: Path) -> None:
    """With an error of ours, over plain sockets and over TLS; what is only slow gets through."""
    pem = tmp_path / "server.pem"
    pem.write_bytes(self_signed())
    with ExitStack() as servers:
        urls = {
            name: servers.enter_context(DrippingServer(behave)).url
            for name, behave in BEHAVIOURS.items()
        }
        secure = DrippingServer(dripping.read_nothing, pem=pem)
        urls["upload over TLS to who reads nothing"] = servers.enter_context(secure).url
        again = DrippingServer(dripping.drip_body, dripping.answer_whole)
        urls["second attempt"] = servers.enter_context(again).url
        given = [f"{name}={url}" for name, url in urls.items()]
        told = run_main("Transfers", tmp_path, *given, options=trusting(pem))
    for name in urls:
        if name.startswith(("a body", "headers", "upload")):
            assert told[name].startswith(SLOW), (name, told[name])
            assert "in 600 ms, not 1000" in told[name]
    assert told["interrupt of a drip"] == "interrupted"
    assert told["a steady body"] == told["second attempt"] == "whole"


def trusting(pem: Path) -> tuple[str, ...]:
    """Options of a JVM that takes this certificate."""
    certificate, store = pem.with_suffix(".crt"), pem.with_suffix(".p12")
    _, begin, rest = pem.read_text().partition("-----BEGIN CERTIFICATE-----")
    certificate.write_text(begin + rest)
    command = f"keytool -importcert -noprompt -alias test -file {certificate} -keystore {store}"
    command += f" -storetype PKCS12 -storepass {TRUST}"
    subprocess.run(command.split(), check=True, capture_output=True)
    where = "-Djavax.net.ssl.trustStore"
    return (f"{where}={store}", f"{where}Password={TRUST}", f"{where}Type=PKCS12")
