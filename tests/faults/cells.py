"""One cell of the fault matrix: a real query, one fault at one step, and what came of it.

Required: the query goes on, or it stops with an error that has one of our names; with the fault
gone it resumes, the sink has every batch once, the counts are those of the batch computation, and
every retained checkpoint is whole.
"""

from __future__ import annotations

import re
import sqlite3
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import holdfast
from holdfast import errors
from holdfast.spark.session import current_host
from tests.faults.steps import Phase, Span, Step
from tests.spark.orders import counts_by_sku, write_orders
from tests.spark.queries import (
    counted,
    ledger,
    make_tables,
    read_counts,
    read_doubled,
    write_counts,
)

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from tests.faults.proxy import FaultProxy
    from tests.faults.rules import Act, Rule

GOES_ON, WARNS, RESUMES = "goes on", "goes on, warns", "↺"
_OURS = {
    name
    for name, kind in vars(errors).items()
    if isinstance(kind, type) and issubclass(kind, errors.HoldfastError)
}
_CELL_SECONDS_MAX = 120
_MANIFESTS_MAX = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """Which fault, at which step, for how long."""

    act: Act
    step: Step
    span: Span

    def __str__(self) -> str:
        return f"{self.act.value} at {self.step.name}, {self.span.value}"


@dataclass(slots=True, kw_only=True)
class Outcome:
    """What came of a cell; it is right where there are no problems."""

    text: str
    problems: list[str] = field(default_factory=list)
    message: str = ""
    seconds: float = 0.0


class CellJob:
    """The count over orders of one cell: its input, its chain, its sink."""

    def __init__(self, spark: SparkSession, store: str, name: str, folder: Path) -> None:
        self.name = name
        self.failing: set[int] = set()
        self._spark, self._store = spark, store
        self._orders, self._database = folder / name / "orders", str(folder / name / "sink.db")
        self._files = 0
        self._orders.mkdir(parents=True)
        make_tables(self._database)

    def feed(self, files: int, **rows: int) -> None:
        write_orders(self._orders, files=files, first=self._files, **rows)
        self._files += files

    def start(self, *, to_end: bool = False) -> StreamingQuery:
        sink = holdfast.exactly_once(self._write, ledger(self._database))
        writer = (
            counted(self._spark, str(self._orders))
            .writeStream.outputMode("update")
            .foreachBatch(sink)
            .option("checkpointLocation", f"holdfast:///{self.name}")
        )
        return (writer.trigger(availableNow=True) if to_end else writer).start()

    def run(self, *, to_end: bool = False) -> str:
        """Start, and run until all input is in: see `finish`."""
        try:
            query = self.start(to_end=to_end)
        except Exception as error:  # noqa: BLE001 - what a start says is the outcome
            return str(error)
        return self.finish(query)

    def finish(self, query: StreamingQuery) -> str:
        """Wait until all input is committed, then stop; what the query said if it stopped first."""
        end = time.monotonic() + _CELL_SECONDS_MAX
        while query.isActive and holdfast.status(query).batch < self._files - 1:
            if time.monotonic() > end:
                query.stop()
                return "it hangs"
            time.sleep(0.02)
        self._settle()
        stopped = query.exception()
        query.stop()
        return "" if stopped is None else str(stopped)

    def warnings(self) -> tuple[str, ...]:
        return holdfast.status(self.name).warnings

    def problems(self) -> list[str]:
        """What is not as it must be, now that the fault is gone."""
        found = []
        if read_counts(self._database) != counts_by_sku(self._orders):
            found.append("the counts are not those of the batch computation")
        if doubled := read_doubled(self._database):
            found.append(f"the sink has twice: {doubled[:3]}")
        if (batches := self._batches()) != list(range(self._files)):
            found.append(f"the sink has the batches {batches}, not all of {self._files}")
        chain = holdfast.Chain(holdfast.open_store(self._store), self.name)
        retained = [each.number for each in chain.history()]
        verdicts = [chain.validate(number) for number in retained]
        found += [f"checkpoint {v.number}: {v.issues[0]}" for v in verdicts if not v.valid]
        return found

    def retained(self) -> int:
        chain = holdfast.Chain(holdfast.open_store(self._store), self.name)
        return len(chain.history())

    def _write(self, df: DataFrame, batch: int, txn: Any) -> None:
        write_counts(df, batch, txn)
        if batch in self.failing:
            raise RuntimeError("the sink is away")

    def _batches(self) -> list[int]:
        with sqlite3.connect(self._database) as connection:
            rows = connection.execute("SELECT DISTINCT batch FROM seen ORDER BY batch")
            return [row[0] for row in rows]

    @staticmethod
    def _settle() -> None:
        """Upkeep is done in order, one after another: wait for what was asked for so far."""
        done = threading.Event()
        current_host()._background.submit(lambda _: None, done.set)
        done.wait(_CELL_SECONDS_MAX)


def run_cell(cell: Cell, job: CellJob, proxy: FaultProxy) -> Outcome:
    """Bring the query to where the fault can hit it, let it, and see."""
    started = time.monotonic()
    rule = cell.step.rule(cell.act, cell.span, job.name)
    at_start = cell.step.phase is Phase.START
    message = (
        _at_a_start(job, cell.step, rule, proxy) if at_start else _running(job, cell, rule, proxy)
    )
    proxy.script.remove(rule)
    warned = bool(job.warnings()) if cell.step.is_upkeep else False
    outcome = _judged(message, warned=warned)
    if not rule.fired:
        outcome.problems.append("the fault never hit")
    job.feed(4 if cell.step.is_upkeep else 1, **cell.step.rows)
    resumed = job.run(to_end=True)
    if resumed:
        outcome.problems.append(f"it does not resume: {resumed[:300]}")
    outcome.problems += job.problems()
    if cell.step.is_upkeep and job.retained() > _MANIFESTS_MAX:
        outcome.problems.append(f"{job.retained()} checkpoints are retained: upkeep lags behind")
    outcome.seconds = time.monotonic() - started
    return outcome


def _at_a_start(job: CellJob, step: Step, rule: Rule, proxy: FaultProxy) -> str:
    """A batch was planned and ran, and is not committed: the start has a plan to adopt."""
    job.feed(3, **step.rows)
    job.failing = {2}
    if "the sink is away" not in job.run():
        raise AssertionError("the sink did not fail")
    job.failing = set()
    job.feed(1, **step.rows)
    proxy.script.add(rule)
    return job.run()


def _running(job: CellJob, cell: Cell, rule: Rule, proxy: FaultProxy) -> str:
    job.feed(1, **cell.step.rows)
    query = job.start()
    query.processAllAvailable()
    proxy.script.add(rule)
    job.feed(6 if cell.step.is_upkeep else 2, **cell.step.rows)
    return job.finish(query)


def _judged(message: str, *, warned: bool) -> Outcome:
    if not message:
        return Outcome(text=WARNS if warned else GOES_ON)
    names = [name for name in re.findall(r"\b([A-Z]\w+Error): ", message) if name in _OURS]
    if not names or "a defect in holdfast" in message:
        return Outcome(text="?", problems=[f"no clear error: {message[:600]}"], message=message)
    return Outcome(text=f"{names[0]} {RESUMES}", message=message)
