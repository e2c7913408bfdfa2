"""A sink's database: PostgreSQL where its name is a URL, else SQLite in a file."""

from __future__ import annotations

import contextlib
import sqlite3
from typing import TYPE_CHECKING, Any

import psycopg

if TYPE_CHECKING:
    from collections.abc import Iterator


def connect(database: str) -> Any:
    """A new connection, with transactions."""
    if database.startswith("postgresql:"):
        return psycopg.connect(database, connect_timeout=10)
    connection = sqlite3.connect(database, timeout=30)
    connection.execute("PRAGMA journal_mode=WAL")
    return connection


def mark(connection: Any) -> str:
    """How this database writes a parameter."""
    return "?" if isinstance(connection, sqlite3.Connection) else "%s"


@contextlib.contextmanager
def opened(database: str) -> Iterator[Any]:
    """One transaction on a connection of its own."""
    with contextlib.closing(connect(database)) as connection:
        yield connection
        connection.commit()


def rows(database: str, sql: str) -> list[tuple[Any, ...]]:
    """What a query finds."""
    with opened(database) as connection:
        cursor = connection.cursor()
        cursor.execute(sql)
        return list(cursor.fetchall())
