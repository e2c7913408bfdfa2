"""An S3 server for the tests: the first of four kinds that can be had here.

1. `HOLDFAST_S3_ENDPOINT`, with the credentials that AWS's own variables name;
2. MinIO in a container, where a Docker engine answers;
3. MinIO as a binary, built once with Go;
4. moto, which is an error where `HOLDFAST_REQUIRE_MINIO` is 1.

Each listens on 127.0.0.1 only, and ends with the test run, also when that is killed.
"""

from __future__ import annotations

import base64
import contextlib
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import SplitResult, urlsplit

from tests.machines import HERE, Machine
from tests.s3 import minio

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from testcontainers.core.container import DockerContainer

IMAGE = "minio/minio:latest"
KMS_KEY = "test-key"

_START_SECONDS_MAX = 60
# The server ends when its guard's input does: at close, or when the test run dies.
GUARD = '"$@" & server=$!; cat >/dev/null; kill "$server"; wait "$server"'


class NoServerError(Exception):
    """The server that is required cannot be had."""


@dataclass(frozen=True, kw_only=True)
class Choice:
    """Which server this run uses, ready to be started."""

    kind: Literal["endpoint", "container", "binary", "moto"]
    name: str
    program: Path | None = None


@dataclass(frozen=True, kw_only=True)
class Server:
    """A server that runs; credentials are empty where boto3 finds its own."""

    kind: str
    endpoint: str
    access_key: str = ""
    secret_key: str = ""

    @property
    def checks_signatures(self) -> bool:
        return self.kind != "moto"


def choose(say: Callable[[str], None]) -> Choice:
    """The first kind that can be had; builds MinIO if need be.

    Raises:
        NoServerError: only moto is left, and MinIO is required.
    """
    endpoint = os.environ.get("HOLDFAST_S3_ENDPOINT")
    if endpoint:
        return Choice(kind="endpoint", name=f"HOLDFAST_S3_ENDPOINT, {endpoint}")
    if _docker_answers():
        return Choice(kind="container", name=f"MinIO in a container, {IMAGE}")
    program = minio.binary(say)
    if program is not None:
        return Choice(kind="binary", name=f"MinIO, {program}", program=program)
    if os.environ.get("HOLDFAST_REQUIRE_MINIO") == "1":
        raise NoServerError(
            "HOLDFAST_REQUIRE_MINIO is 1, but there is no HOLDFAST_S3_ENDPOINT, no Docker engine, "
            "and no Go that builds MinIO"
        )
    return Choice(kind="moto", name="moto, which checks no signatures; install Go for MinIO")


def _docker_answers() -> bool:
    """Whether an engine answers a ping at the address that Docker's own clients would use."""
    parts = urlsplit(os.environ.get("DOCKER_HOST") or "unix:///var/run/docker.sock")
    try:
        with _dialled(parts) as engine:
            engine.sendall(b"GET /_ping HTTP/1.0\r\n\r\n")
            return b"OK" in engine.recv(4096)
    except (OSError, ValueError):
        return False


def _dialled(parts: SplitResult) -> socket.socket:
    if parts.scheme != "unix":
        return socket.create_connection((parts.hostname or "", parts.port or 2375), timeout=5)
    engine = socket.socket(socket.AF_UNIX)
    engine.settimeout(5)
    try:
        engine.connect(parts.path)
    except OSError:
        engine.close()
        raise
    return engine


@contextlib.contextmanager
def run(choice: Choice, folder: Path, machine: Machine = HERE) -> Iterator[Server]:
    """Start what was chosen, and end it; on a machine of its own, only a binary can be."""
    if choice.kind == "endpoint":
        yield Server(kind=choice.kind, endpoint=os.environ["HOLDFAST_S3_ENDPOINT"])
        return
    port, user, password = free_port(), secrets.token_hex(8), secrets.token_hex(16)
    endpoint = f"http://{machine.address}:{port}"
    with _started(choice, port, minio_environment(user, password), folder, machine):
        machine.inside(lambda: wait_for(endpoint, folder / "log"))
        yield Server(kind=choice.kind, endpoint=endpoint, access_key=user, secret_key=password)


def _started(
    choice: Choice, port: int, environment: Mapping[str, str], folder: Path, machine: Machine
) -> contextlib.AbstractContextManager[object]:
    if choice.kind == "container":
        return _container(port, environment)
    if choice.kind == "moto":
        app = Path(__file__).with_name("moto_app.py")
        return _guarded([sys.executable, str(app), str(port)], {}, folder)
    address = f"{machine.address}:{port}"
    command = [str(choice.program), "server", str(folder / "data"), "--address", address]
    return _guarded([*machine.prefix, *command, "--quiet"], environment, folder)


def minio_environment(user: str, password: str) -> dict[str, str]:
    """With a key for server-side encryption and open metrics, without the web console."""
    key = base64.b64encode(secrets.token_bytes(32)).decode()
    return {
        "MINIO_ROOT_USER": user,
        "MINIO_ROOT_PASSWORD": password,
        "MINIO_BROWSER": "off",
        "MINIO_PROMETHEUS_AUTH_TYPE": "public",
        "MINIO_KMS_SECRET_KEY": f"{KMS_KEY}:{key}",
    }


@contextlib.contextmanager
def _guarded(command: list[str], environment: Mapping[str, str], folder: Path) -> Iterator[None]:
    with (folder / "log").open("wb") as log:
        guard = subprocess.Popen(
            ["/bin/sh", "-c", GUARD, "guard", *command],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            cwd=folder,
            env={**os.environ, **environment, "HOME": str(folder)},
            start_new_session=True,  # an interrupt at the terminal is the test run's to handle
        )
    try:
        yield
    finally:
        if guard.stdin is not None:
            guard.stdin.close()
        try:
            guard.wait(timeout=10)
        except subprocess.TimeoutExpired:
            os.killpg(guard.pid, signal.SIGKILL)
            guard.wait()


def _container(port: int, environment: Mapping[str, str]) -> DockerContainer:
    """Testcontainers' own guard, Ryuk, removes it when the test run dies."""
    from testcontainers.core.container import DockerContainer  # slow, and mostly not needed

    container = DockerContainer(IMAGE).with_command("server /data")
    container.ports = {"9000/tcp": ("127.0.0.1", port)}  # type: ignore[dict-item]  # docker-py's
    for name, value in environment.items():
        container.with_env(name, value)
    return container


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def wait_for(endpoint: str, log: Path) -> None:
    """Until it answers anything at all."""
    deadline = time.monotonic() + _START_SECONDS_MAX
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(f"{endpoint}/", timeout=5):
                return
        except urllib.error.HTTPError as error:
            error.close()
            if error.code < 500:
                return
        except (urllib.error.URLError, OSError):
            pass
        time.sleep(0.05)
    said = log.read_text(errors="replace")[-2000:] if log.exists() else ""
    raise NoServerError(f"the S3 server did not start: {said}")
