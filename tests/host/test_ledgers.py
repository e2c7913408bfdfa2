"""A ledger in a database, without Spark: what it requires before it is trusted."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any

import pytest

from holdfast.errors import ConfigError
from holdfast.spark.ledgers import DatabaseLedger
from holdfast.spark.receipts import Receipt

if TYPE_CHECKING:
    from pathlib import Path

RECEIPT = Receipt(query="orders", sink="sink", lineage=0, batch=3, plan="p" * 64)
NOTHING: Any = None


class CommitsByItself:
    """As some drivers: `autocommit` is a method, and on."""

    def __init__(self, path: str) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)

    def autocommit(self, value: bool) -> None:  # noqa: FBT001 - as there
        raise NotImplementedError

    def cursor(self) -> sqlite3.Cursor:
        return self._connection.cursor()

    def commit(self) -> None:
        pass

    def rollback(self) -> None:
        pass

    def close(self) -> None:
        self._connection.close()


def receipts(path: str) -> int:
    with sqlite3.connect(path) as connection:
        found = connection.execute("SELECT count(*) FROM holdfast_ledger").fetchone()
        return int(found[0])


def test_a_connection_that_commits_by_itself_is_found_by_trying(tmp_path: Path) -> None:
    """The receipt would stay without its rows; and what was tried is taken away."""
    path = str(tmp_path / "sink.db")
    ledger = DatabaseLedger(lambda: CommitsByItself(path), paramstyle="qmark")
    with pytest.raises(ConfigError, match="by itself"), ledger.transaction(NOTHING, RECEIPT):
        pass
    assert receipts(path) == 0


def test_a_table_without_a_key_is_refused(tmp_path: Path) -> None:
    """Some databases take a primary key and do not enforce it; a batch would be written twice."""
    path = str(tmp_path / "sink.db")
    with sqlite3.connect(path) as connection:
        connection.execute(
            "CREATE TABLE holdfast_ledger (query, sink, lineage, batch, plan, written_ms)"
        )
    ledger = DatabaseLedger(lambda: sqlite3.connect(path))
    with pytest.raises(ConfigError, match="takes a receipt twice"):
        ledger.transaction(NOTHING, RECEIPT).__enter__()
    assert receipts(path) == 0


def test_a_batch_is_written_once(tmp_path: Path) -> None:
    """By one ledger, and by another one after it."""
    path = str(tmp_path / "sink.db")
    wrote = []
    for _ in range(2):
        ledger = DatabaseLedger(lambda: sqlite3.connect(path))
        for _ in range(2):
            with ledger.transaction(NOTHING, RECEIPT) as transaction:
                wrote.append(transaction is not None)
    assert wrote == [True, False, False, False]
    assert receipts(path) == 1
