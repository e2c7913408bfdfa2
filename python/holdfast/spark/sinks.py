"""Sinks for `foreachBatch`: each batch reaches them once, and it can be proven.

The receipt of a batch is written in the sink's own transaction. Its key is the query, the last
rollback and the batch; beside it stands the hash of the batch's plan. A batch that is replayed and
has its receipt is not written again, but its plan still runs: Spark commits state only if it does.

Failure: killed before the sink's commit → neither rows nor receipt, and the batch is run again
with the same plan. After it → the receipt is found. Another plan under the same key is an error.
"""

from __future__ import annotations

import functools
import logging
import re
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from holdfast.spark.receipts import Receipt
from holdfast.spark.session import current_host
from holdfast.spark.sinkstate import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from pyspark.sql import DataFrame

    from holdfast.spark.run import Run

SinkFunction: TypeAlias = "Callable[[DataFrame, int, Any], None]"
BatchFunction: TypeAlias = "Callable[[DataFrame, int], None]"

_LOG = logging.getLogger("holdfast")
_QUERY_ID = "sql.streaming.queryId"
_FAILURE_CHARS_MAX = 500
_SECRET = re.compile(r"(://[^/@\s:]*:|(?i:password|passwd|pwd|secret|token)\s*[=:]\s*)[^@&;,\s]+")


class SinkLedger(Protocol):
    """Where receipts are kept: in the sink itself."""

    def transaction(self, df: DataFrame, receipt: Receipt) -> AbstractContextManager[Any]:
        """Open the sink's transaction with this receipt in it; at the end both are committed.

        The transaction is what the user's function gets; `None` where the receipt was there
        already, with the same plan. An error inside takes rows and receipt back.

        Raises:
            CorruptionError: the receipt is there with another plan.
        """


def exactly_once(
    fn: SinkFunction, ledger: SinkLedger | None = None, *, name: str = "sink"
) -> BatchFunction:
    """For `foreachBatch`: `fn(df, batch_id, txn)` writes a batch within the ledger's transaction.

    Without a ledger nothing in the sink can tell what it has taken: a batch may reach it again
    after a crash, and `txn` is `None`. That is `at_least_once`.
    """
    if ledger is None:
        _LOG.warning("a sink without a ledger gets each batch at least once, not exactly once")
    return _Sink(fn, ledger, name)


def at_least_once(fn: BatchFunction, *, name: str = "sink") -> BatchFunction:
    """For `foreachBatch`: `fn(df, batch_id)` writes a batch, and is not called again for one
    that this process knows to have been written.
    """  # noqa: D205 - one sentence

    def ignoring(df: DataFrame, batch_id: int, txn: object) -> None:
        del txn
        fn(df, batch_id)

    return _Sink(ignoring, None, name)


class _Sink:
    """One sink of one query, called by Spark with each batch."""

    def __init__(self, fn: SinkFunction, ledger: SinkLedger | None, name: str) -> None:
        self._fn = fn
        self._ledger = ledger
        self._name = name
        self._done: set[Receipt] = set()
        functools.update_wrapper(self, fn, updated=())

    def __call__(self, df: DataFrame, batch_id: int) -> None:
        run = current_run(df)
        receipt = Receipt.of(run, batch_id, self._name)
        record = run.parts.sinks.of(batch_id, self._name)
        run.is_in_sink = True
        try:
            record.outcome = self._write(df, batch_id, receipt)
        except BaseException as error:
            record.failure = _brief(error)
            raise
        finally:
            run.is_in_sink = False

    def _write(self, df: DataFrame, batch_id: int, receipt: Receipt) -> Outcome:
        if self._ledger is None:
            return self._write_unproven(df, batch_id, receipt)
        with self._ledger.transaction(df, receipt) as txn:
            if txn is not None:
                self._fn(df, batch_id, txn)
        if txn is None:
            run_plan(df)
        return Outcome.REPLAYED if txn is None else Outcome.PROVEN

    def _write_unproven(self, df: DataFrame, batch_id: int, receipt: Receipt) -> Outcome:
        if receipt in self._done:
            run_plan(df)
            return Outcome.REPLAYED
        self._fn(df, batch_id, None)
        self._done.add(receipt)
        return Outcome.UNKNOWN


def _brief(error: BaseException) -> str:
    """For the manifest, which many read: one line, and no password of a database's URL."""
    line = (str(error).splitlines() or [""])[0][:_FAILURE_CHARS_MAX]
    return f"{type(error).__name__}: " + _SECRET.sub(r"\1***", line)


def run_plan(df: DataFrame) -> None:
    """Run a batch to nowhere: its state is committed only if its plan runs."""
    df.write.format("noop").mode("overwrite").save()


def current_run(df: DataFrame) -> Run:
    """The run whose batch this is.

    Raises:
        MisuseError: the query is not on `holdfast:`.
    """
    query_id = df.sparkSession.sparkContext.getLocalProperty(_QUERY_ID)
    return current_host().run_of(query_id or "")
