"""A PostgreSQL server for the tests that want one, and an empty database for each of them."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

import psycopg
import pytest

from tests.postgres import server

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The server, for as long as the run lasts."""
    try:
        binaries = server.programs(print)
    except server.NoPostgresError as error:
        if server.is_required():
            raise
        pytest.skip(str(error))
    with server.running(binaries) as url:
        yield url


@pytest.fixture
def postgres(postgres_server: str) -> str:
    """The URL of a database in which nothing is yet."""
    name = f"test_{secrets.token_hex(4)}"
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return postgres_server.rpartition("/")[0] + f"/{name}"
