"""Ledgers: receipts in a database's own transaction, or in Delta's transaction log."""

from __future__ import annotations

import contextlib
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson

from holdfast.clock import SYSTEM_CLOCK, Clock
from holdfast.errors import ConfigError
from holdfast.ids import random_nonce
from holdfast.spark.receipts import Receipt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pyspark.sql import DataFrame, SparkSession

_COLUMNS = "query, sink, lineage, batch, plan, written_ms"
# What Delta says of a table that is not there yet, which its first write will make.
_NO_TABLE = (
    "DELTA_MISSING_DELTA_TABLE",
    "DELTA_TABLE_NOT_FOUND",
    "TABLE_OR_VIEW_NOT_FOUND",
    "does not exist",
    "is only supported for Delta tables",
)
_MARKS: dict[str, Callable[[int], str]] = {
    "qmark": lambda _: "?",
    "format": lambda _: "%s",
    "pyformat": lambda _: "%s",
    "numeric": lambda place: f":{place}",
    "named": lambda place: f":{place}",
}


class DatabaseLedger:
    """Receipts in a table of any DB-API database, in the same transaction as the rows.

    `connect` makes a new connection: Spark calls a sink from a thread of its own, and a batch that
    failed leaves nothing behind. Its user may create the table, or it is there already. A statement
    that commits by itself, as DDL does in MySQL and Oracle, has no place in the sink's function.
    """

    def __init__(
        self,
        connect: Callable[[], Any],
        *,
        table: str = "holdfast_ledger",
        paramstyle: str = "",
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        if not table.replace("_", "").replace(".", "").isalnum():
            raise ConfigError("a ledger's table is a plain name", table=table)
        self._connect = connect
        self._table = table
        self._paramstyle = paramstyle
        self._clock = clock
        self._is_proven = False

    @contextlib.contextmanager
    def transaction(self, df: DataFrame, receipt: Receipt) -> Iterator[DatabaseTransaction | None]:
        """See `SinkLedger`; the receipt goes first, so that two drivers wait for each other."""
        del df
        connection = self._connect()
        try:
            if not self._is_proven:
                self._make_table(connection)
                self._prove(connection)
                self._is_proven = True
            if self._insert(connection, receipt):
                yield DatabaseTransaction(connection)
                connection.commit()
            else:
                receipt.require_same_plan(self._stored_plan(connection, receipt))
                yield None
        except BaseException:
            connection.rollback()
            raise
        finally:
            connection.close()

    def _make_table(self, connection: Any) -> None:  # noqa: ANN401 - any DB-API connection
        """Of two that make it at once PostgreSQL refuses one, whose second try finds it."""
        for is_last in (False, True):
            try:
                self._create_table(connection)
            except Exception:
                connection.rollback()
                if not is_last:
                    continue
                raise
            else:
                break

    def _prove(self, connection: Any) -> None:  # noqa: ANN401 - as above
        """Once in a process: what is not committed can be taken back, and a key is taken once.

        Raises:
            ConfigError: or a batch that is run again would be lost, or written twice.
        """
        probe = Receipt(query=f"probe {random_nonce()}", sink="", lineage=0, batch=0, plan="none")
        self._write(connection, probe)
        connection.rollback()
        if self._stored_plan(connection, probe):
            self._remove(connection, probe)
            raise ConfigError(
                "this connection commits every statement by itself",
                hint="let `connect` return one with autocommit off, on tables with transactions",
            )
        self._write(connection, probe)
        connection.commit()
        is_taken_twice = self._insert(connection, probe)
        connection.rollback()
        self._remove(connection, probe)
        if is_taken_twice:
            raise ConfigError(
                "the ledger's table takes a receipt twice",
                hint="it needs a primary key (query, sink, lineage, batch) that is enforced",
                table=self._table,
            )

    def _create_table(self, connection: Any) -> None:  # noqa: ANN401 - as above
        self._execute(
            connection,
            f"CREATE TABLE IF NOT EXISTS {self._table} (query VARCHAR(600) NOT NULL, "
            "sink VARCHAR(200) NOT NULL, lineage BIGINT NOT NULL, batch BIGINT NOT NULL, "
            "plan CHAR(64) NOT NULL, written_ms BIGINT NOT NULL, "
            "PRIMARY KEY (query, sink, lineage, batch))",
        )
        connection.commit()

    def _insert(self, connection: Any, receipt: Receipt) -> bool:  # noqa: ANN401 - as above
        """Whether the receipt is new. Waits for another driver that has it in its transaction."""
        try:
            self._write(connection, receipt)
        except Exception:
            connection.rollback()
            if self._stored_plan(connection, receipt):
                return False
            raise
        return True

    def _write(self, connection: Any, receipt: Receipt) -> None:  # noqa: ANN401 - as above
        marks = ", ".join(map(self._mark(connection), range(1, 7)))
        self._execute(
            connection,
            f"INSERT INTO {self._table} ({_COLUMNS}) VALUES ({marks})",  # noqa: S608 - checked above
            (*_key(receipt), receipt.plan, self._clock.now_ms()),
        )

    def _stored_plan(self, connection: Any, receipt: Receipt) -> str:  # noqa: ANN401 - as above
        """Empty if the receipt is not there; a plan's hash never is."""
        sql = f"SELECT plan FROM {self._table} {self._where(connection)}"  # noqa: S608 - checked above
        row = self._execute(connection, sql, _key(receipt)).fetchone()
        return "" if row is None else str(row[0]).strip()

    def _remove(self, connection: Any, receipt: Receipt) -> None:  # noqa: ANN401 - as above
        sql = f"DELETE FROM {self._table} {self._where(connection)}"  # noqa: S608 - checked above
        self._execute(connection, sql, _key(receipt))
        connection.commit()

    def _where(self, connection: Any) -> str:  # noqa: ANN401 - as above
        mark = self._mark(connection)
        return (
            f"WHERE query = {mark(1)} AND sink = {mark(2)} "
            f"AND lineage = {mark(3)} AND batch = {mark(4)}"
        )

    def _mark(self, connection: Any) -> Callable[[int], str]:  # noqa: ANN401 - as above
        style = self._paramstyle or _paramstyle_of(connection)
        if style not in _MARKS:
            raise ConfigError(
                "how does this database write parameters?",
                hint='DatabaseLedger(connect, paramstyle="qmark") or "format", as its module says',
                paramstyle=style,
            )
        return _MARKS[style]

    @staticmethod
    def _execute(connection: Any, sql: str, values: Sequence[Any] = ()) -> Any:  # noqa: ANN401 - as above
        cursor = connection.cursor()
        cursor.execute(sql, tuple(values))
        return cursor


@dataclass(frozen=True, slots=True)
class DatabaseTransaction:
    """The open transaction: write through it, and leave the commit to the ledger."""

    connection: Any

    def cursor(self) -> Any:  # noqa: ANN401 - a DB-API cursor
        return self.connection.cursor()

    def execute(self, sql: str, values: Sequence[Any] = ()) -> Any:  # noqa: ANN401 - as above
        cursor = self.connection.cursor()
        cursor.execute(sql, values)
        return cursor

    def executemany(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        self.connection.cursor().executemany(sql, rows)


class DeltaLedger:
    """Receipts in Delta's own log: `txn.options` go with the write of the batch.

    Delta skips a write whose version it has seen, so a replay is safe even without looking; the
    plan's hash rides in the commit's metadata, where a replay compares it.
    """

    def __init__(self, table: str) -> None:
        """`table`: a path, or a catalog's name."""
        self._table = table

    @contextlib.contextmanager
    def transaction(self, df: DataFrame, receipt: Receipt) -> Iterator[DeltaTransaction | None]:
        """See `SinkLedger`; the one write that has the options commits both."""
        txn = DeltaTransaction(receipt)
        stored = self._stored_plan(df.sparkSession, txn)
        if stored:
            receipt.require_same_plan(stored)
            yield None
        else:
            yield txn

    def _stored_plan(self, spark: SparkSession, txn: DeltaTransaction) -> str:
        """The plan under this key in the table's history; empty if there is none, or no table."""
        name = f"delta.`{self._table}`" if "/" in self._table else self._table
        wanted = txn.key()
        try:
            rows = spark.sql(f"DESCRIBE HISTORY {name}").select("userMetadata").toLocalIterator()
            found = [_metadata(row[0]) for row in rows]
        except Exception as error:
            if any(words in str(error) for words in _NO_TABLE):
                return ""
            raise
        return next((each["plan"] for each in found if each.get("key") == wanted), "")


@dataclass(frozen=True, slots=True)
class DeltaTransaction:
    """`df.write.format("delta").options(**txn.options)` writes a batch once."""

    receipt: Receipt

    def key(self) -> str:
        receipt = self.receipt
        return f"{receipt.query}/{receipt.sink}/{receipt.lineage}/{receipt.batch}"

    @property
    def options(self) -> dict[str, Any]:
        receipt = self.receipt
        metadata = {"holdfast": {"key": self.key(), "plan": receipt.plan}}
        return {
            "txnAppId": f"holdfast/{receipt.query}/{receipt.sink}/{receipt.lineage}",
            "txnVersion": receipt.batch,
            "userMetadata": orjson.dumps(metadata).decode(),
        }


def _metadata(text: str | None) -> dict[str, str]:
    """Ours, if a commit has any."""
    try:
        found = orjson.loads(text or "{}")
    except orjson.JSONDecodeError:
        return {}
    ours = found.get("holdfast") if isinstance(found, dict) else None
    return ours if isinstance(ours, dict) else {}


def _paramstyle_of(connection: Any) -> str:  # noqa: ANN401 - any DB-API connection
    root = type(connection).__module__.partition(".")[0]
    return str(getattr(sys.modules.get(root), "paramstyle", ""))


def _key(receipt: Receipt) -> tuple[str, str, int, int]:
    return receipt.query, receipt.sink, receipt.lineage, receipt.batch
