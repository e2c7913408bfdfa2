"""A real S3 server for every test that is marked `s3`, and a fresh prefix for each of them."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

import pytest

from tests.s3 import server
from tests.s3.buckets import fresh_bucket, store_url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_CHOICE = pytest.StashKey[server.Choice]()


def pytest_collection_finish(session: pytest.Session) -> None:
    """Choose the server before any test's time runs: building MinIO takes minutes."""
    wanted = any(item.get_closest_marker("s3") for item in session.items)
    if wanted and not session.config.option.collectonly:
        session.config.stash[_CHOICE] = _choose(session.config)


def _choose(config: pytest.Config) -> server.Choice:
    reporter = config.pluginmanager.get_plugin("terminalreporter")

    def say(line: str) -> None:
        if reporter is not None:
            reporter.write_line(f"s3: {line}")
            reporter.flush()

    try:
        choice = server.choose(say)
    except server.NoServerError as error:
        raise pytest.UsageError(str(error)) from error
    say(f"these tests use {choice.name}")
    return choice


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say once more, at the end, what the S3 tests ran against."""
    choice = config.stash.get(_CHOICE, None)
    if choice is not None:
        terminalreporter.write_line(f"s3 tests ran against: {choice.name}")


@pytest.fixture(scope="session")
def s3_choice(request: pytest.FixtureRequest) -> server.Choice:
    """Which server this run uses."""
    return request.config.stash[_CHOICE]


@pytest.fixture(scope="session")
def s3_server(
    s3_choice: server.Choice, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[server.Server]:
    """The server, for as long as the run lasts."""
    with server.run(s3_choice, tmp_path_factory.mktemp("s3")) as running:
        yield running


@pytest.fixture(scope="session")
def bucket(s3_server: server.Server) -> Iterator[str]:
    with fresh_bucket(s3_server) as name:
        yield name


@pytest.fixture
def s3_url(s3_server: server.Server, bucket: str) -> Callable[..., str]:
    """A URL on that server; another bucket, prefix or other options can be given."""
    prefix = secrets.token_hex(6)

    def url(*, bucket: str = bucket, prefix: str = prefix, **options: str) -> str:
        return store_url(s3_server, bucket, prefix, **options)

    return url
