"""Ledgers: receipts in a database's own transaction, or in Delta's transaction log."""

from __future__ import annotations

import contextlib
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson

from holdfast.clock import SYSTEM_CLOCK, Clock
from holdfast.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from holdfast.spark.receipts import Receipt

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
    failed leaves nothing behind. Its user may create the table, or it is there already.
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
        self._is_there = False

    @contextlib.contextmanager
    def transaction(self, df: DataFrame, receipt: Receipt) -> Iterator[DatabaseTransaction | None]:
        """See `SinkLedger`; the receipt goes first, so that two drivers wait for each other."""
        del df
        connection = self._connect()
        try:
            _require_transactions(connection)
            self._make_table(connection)
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
            if self._is_there:
                return
            try:
                self._create_table(connection)
            except Exception:
                connection.rollback()
                if not is_last:
                    continue
                raise
            self._is_there = True

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
        key = (receipt.query, receipt.sink, receipt.lineage, receipt.batch)
        marks = ", ".join(map(self._mark(connection), range(1, 7)))
        try:
            self._execute(
                connection,
                f"INSERT INTO {self._table} ({_COLUMNS}) VALUES ({marks})",  # noqa: S608 - checked above
                (*key, receipt.plan, self._clock.now_ms()),
            )
        except Exception:
            connection.rollback()
            if self._stored_plan(connection, receipt):
                return False
            raise
        return True

    def _stored_plan(self, connection: Any, receipt: Receipt) -> str:  # noqa: ANN401 - as above
        mark = self._mark(connection)
        cursor = self._execute(
            connection,
            f"SELECT plan FROM {self._table} WHERE query = {mark(1)} AND sink = {mark(2)} "  # noqa: S608 - checked above
            f"AND lineage = {mark(3)} AND batch = {mark(4)}",
            (receipt.query, receipt.sink, receipt.lineage, receipt.batch),
        )
        row = cursor.fetchone()
        return "" if row is None else str(row[0]).strip()

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


def _require_transactions(connection: Any) -> None:  # noqa: ANN401 - any DB-API connection
    """A connection that commits each statement cannot keep rows and receipt together."""
    by_itself = getattr(connection, "autocommit", False) is True
    is_sqlite = type(connection).__module__ == "sqlite3"
    if by_itself or (is_sqlite and connection.isolation_level is None):
        raise ConfigError(
            "this connection commits every statement by itself",
            hint="let `connect` return one with autocommit off",
        )
