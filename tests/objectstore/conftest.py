"""What the tests of object stores share."""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING

import pytest

from holdfast.objectstore.s3 import S3Store
from holdfast.settings import S3Settings
from tests.objectstore.scripted import ETAG, Reply, ScriptedServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@pytest.fixture(autouse=True)
def _no_account(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of this machine's AWS configuration takes part."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture(scope="session")
def _shared_server() -> Iterator[ScriptedServer]:
    server = ScriptedServer(Reply(headers=ETAG))
    yield server
    server.close()


@pytest.fixture
def server(_shared_server: ScriptedServer) -> ScriptedServer:
    """A server that accepts everything until it is told otherwise."""
    _shared_server.then(Reply(headers=ETAG))
    _shared_server.asked.clear()
    return _shared_server


@functools.cache
def _connect(**settings: object) -> S3Store:
    """One client for all tests with the same settings: making one takes a tenth of a second."""
    chosen = S3Settings(**settings)  # type: ignore[arg-type]  # S3Settings checks the names
    return S3Store("bucket", "some/prefix", settings=chosen)


@pytest.fixture
def connect(server: ScriptedServer) -> Callable[..., S3Store]:
    """Opens a store at that server; settings can be given."""
    return functools.partial(
        _connect,
        endpoint_url=server.endpoint,
        access_key="AKIATEST",
        secret_key="hunter2",
    )
