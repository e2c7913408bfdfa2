"""A ledger in PostgreSQL, where two that begin at once meet in other ways than in SQLite."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest

import holdfast
from holdfast.spark.receipts import Receipt

pytestmark = pytest.mark.slow
DRIVERS = 8


def receipt(batch: int, plan: str = "a" * 64) -> Receipt:
    return Receipt(query="orders", sink="sink", lineage=1, batch=batch, plan=plan)


def take(url: str, batch: int, line: threading.Barrier) -> bool:
    """Whether this driver writes the batch; each has a ledger of its own."""
    ledger = holdfast.DatabaseLedger(lambda: psycopg.connect(url))
    line.wait()
    nothing: Any = None
    with ledger.transaction(nothing, receipt(batch)) as txn:
        if txn is not None:
            txn.execute("INSERT INTO rows VALUES (%s)", (batch,))
        return txn is not None


def test_of_drivers_that_begin_at_once_one_writes(postgres: str) -> None:
    """The table is made by one of them, and each batch is written by one of them."""
    with psycopg.connect(postgres) as connection:
        connection.execute("CREATE TABLE rows (batch BIGINT)")
    line = threading.Barrier(DRIVERS)
    with ThreadPoolExecutor(DRIVERS) as pool:
        took = list(pool.map(lambda _: take(postgres, 0, line), range(DRIVERS)))
    assert took.count(True) == 1
    with psycopg.connect(postgres) as connection:
        assert connection.execute("SELECT * FROM rows").fetchall() == [(0,)]


def test_another_plan_under_the_same_key_is_refused(postgres: str) -> None:
    """The receipt in the database says which plan was written."""
    ledger = holdfast.DatabaseLedger(lambda: psycopg.connect(postgres))
    nothing: Any = None
    with ledger.transaction(nothing, receipt(0)) as txn:
        assert txn is not None
    with pytest.raises(holdfast.HoldfastError), ledger.transaction(nothing, receipt(0, "b" * 64)):
        pass
