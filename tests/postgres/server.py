"""A PostgreSQL server for the tests, from Debian's packages.

It listens on 127.0.0.1 only, keeps its data in a directory of its own, and ends with the test run,
also when that is killed. PostgreSQL refuses to run as root: then another user runs it.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg

from tests.s3.server import free_port

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

REQUIRED = "HOLDFAST_REQUIRE_POSTGRES"
_START_SECONDS_MAX = 60
_INSTALL_SECONDS_MAX = 600
# The server ends when its guard's input does; INT closes its connections, TERM would wait for them.
_GUARD = '"$@" & server=$!; cat >/dev/null; kill -INT "$server"; wait "$server"'
_SETTINGS = ("fsync=off", "max_connections=50", "unix_socket_directories=")


class NoPostgresError(Exception):
    """There is no PostgreSQL here, and none can be had."""


def programs(say: Callable[[str], None]) -> Path:
    """The directory of its programs; Debian's package is installed where we may.

    Raises:
        NoPostgresError: it is not here, and cannot be installed.
    """
    found = _found()
    if found is None and os.geteuid() == 0 and shutil.which("apt-get"):
        say("installing Debian's package of PostgreSQL …")
        _install()
        found = _found()
    if found is None:
        raise NoPostgresError("no initdb here: install Debian's package `postgresql`")
    return found


def is_required() -> bool:
    """Whether its absence is an error, as in CI, and not a reason to skip."""
    return os.environ.get(REQUIRED) == "1"


def _found() -> Path | None:
    inside = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), reverse=True)
    anywhere = shutil.which("initdb")
    places = [Path(anywhere).resolve(), *inside] if anywhere else inside
    return next((place.parent for place in places if (place.parent / "postgres").exists()), None)


def _install() -> None:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["update"], ["install", "-y", "--no-install-recommends", "postgresql"]):
        subprocess.run(
            ["apt-get", "-qq", *command],
            env=environment,
            timeout=_INSTALL_SECONDS_MAX,
            capture_output=True,
            check=False,
        )


@contextlib.contextmanager
def running(binaries: Path) -> Iterator[str]:
    """A new server with an empty database, for as long as the block lasts; its URL."""
    user = _user()
    folder = Path(tempfile.mkdtemp(prefix="holdfast-postgres-"))
    try:
        if user is not None:
            shutil.chown(folder, user)
        _initialise(binaries, folder, user)
        port = free_port()
        with _guarded(binaries, folder, port, user):
            url = f"postgresql://holdfast@127.0.0.1:{port}/postgres"
            _wait_for(url, folder / "log")
            yield url
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _user() -> str | None:
    """Who runs it: ourselves, unless we are root."""
    if os.geteuid() != 0:
        return None
    names = {each.pw_name for each in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


def _initialise(binaries: Path, folder: Path, user: str | None) -> None:
    options = ["--username", "holdfast", "--auth", "trust", "--encoding", "UTF8", "--no-locale"]
    made = subprocess.run(
        [str(binaries / "initdb"), "--no-sync", *options, "--pgdata", str(folder / "data")],
        cwd=folder,
        user=user,
        capture_output=True,
        text=True,
        check=False,
    )
    if made.returncode:
        raise NoPostgresError(f"initdb says: {made.stderr[-1000:]}")


@contextlib.contextmanager
def _guarded(binaries: Path, folder: Path, port: int, user: str | None) -> Iterator[None]:
    settings = [part for setting in _SETTINGS for part in ("-c", setting)]
    place = ["-D", str(folder / "data"), "-h", "127.0.0.1", "-p", str(port)]
    with (folder / "log").open("wb") as log:
        guard = subprocess.Popen(
            ["/bin/sh", "-c", _GUARD, "guard", str(binaries / "postgres"), *place, *settings],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            cwd=folder,
            user=user,
            start_new_session=True,
        )
    try:
        yield
    finally:
        if guard.stdin is not None:
            guard.stdin.close()
        guard.wait(timeout=30)


def _wait_for(url: str, log: Path) -> None:
    deadline = time.monotonic() + _START_SECONDS_MAX
    while time.monotonic() < deadline:
        try:
            psycopg.connect(url, connect_timeout=5).close()
        except psycopg.OperationalError:
            time.sleep(0.1)
        else:
            return
    raise NoPostgresError(f"PostgreSQL did not start: {log.read_text(errors='replace')[-2000:]}")
