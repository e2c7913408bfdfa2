"""`make faults`: every rule at every step of a real query, over a proxy before a real S3 server."""

from __future__ import annotations

import argparse
import itertools
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import holdfast
from holdfast.settings import GATE_SETTING
from tests.faults.cells import Cell, CellJob, Outcome, run_cell
from tests.faults.proxy import FaultProxy, fault_proxy
from tests.faults.rules import Act
from tests.faults.steps import (
    DEFAULTS,
    GATE_SECONDS,
    READ_TIMEOUT_S,
    STEPS,
    Span,
    applies,
    sample,
)
from tests.faults.table import keep, render
from tests.s3 import server
from tests.s3.buckets import fresh_bucket, store_url
from tests.spark.session import new_session

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyspark.sql import SparkSession

_AT_ONCE = 4
_SECONDS_PER_CELL = 2.7


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--keep", action="store_true", help="write the table to tests/README.md")
    parser.add_argument("--only", default="", help="cells whose name holds this text")
    parser.add_argument("--sample", action="store_true", help="every rule and every step once")
    arguments = parser.parse_args()
    chosen = sampled_cells() if arguments.sample else all_cells()
    cells = [cell for cell in chosen if arguments.only in str(cell)]
    seconds = _SECONDS_PER_CELL * len(cells)
    print(
        f"{len(cells)} cells, {_AT_ONCE} at a time: some {seconds:.0f} s on two cores", flush=True
    )
    with tempfile.TemporaryDirectory(prefix="holdfast-faults-") as folder:
        outcomes = run_all(cells, Path(folder))
    return tell(outcomes, write=arguments.keep and len(cells) == len(all_cells()))


def all_cells() -> list[Cell]:
    """Every rule at every step where there is such a fault, once and always."""
    product = itertools.product(STEPS, Act, Span)
    return [Cell(act=a, step=s, span=span) for s, a, span in product if applies(a, s)]


def sampled_cells() -> list[Cell]:
    """Every rule and every step at least once, by turns once and always, in the steps' order."""
    spans = itertools.cycle(Span)
    cells = [Cell(act=act, step=step, span=next(spans)) for act, step in sample()]
    return sorted(cells, key=lambda cell: STEPS.index(cell.step))


def run_all(cells: list[Cell], folder: Path) -> dict[Cell, Outcome]:
    """One Spark session, cells with the same settings side by side."""
    (folder / "s3").mkdir()
    with (
        server.run(server.choose(print), folder / "s3") as running,
        fresh_bucket(running) as bucket,
        fault_proxy(running.endpoint) as proxy,
    ):
        options = {"endpoint_url": proxy.endpoint, "read_timeout_s": str(READ_TIMEOUT_S)}
        url = store_url(running, bucket, "faults", **options)
        conf = {
            GATE_SETTING: str(GATE_SECONDS),
            "spark.log.level": "OFF",  # what stops a query is the outcome, and told below
        }
        spark = new_session(url, conf, master=f"local[{_AT_ONCE}]")
        try:
            return Matrix(spark, proxy, url, folder, len(cells)).run(cells)
        finally:
            spark.stop()


class Matrix:
    """The cells as they are run, told one line each."""

    def __init__(
        self, spark: SparkSession, proxy: FaultProxy, url: str, folder: Path, total: int
    ) -> None:
        self._spark, self._proxy, self._url, self._folder = spark, proxy, url, folder
        self._total, self._count = total, itertools.count(1)
        self._started = time.monotonic()

    def run(self, cells: Iterable[Cell]) -> dict[Cell, Outcome]:
        outcomes: dict[Cell, Outcome] = {}
        for conf, group in itertools.groupby(cells, key=lambda cell: id(cell.step.conf)):
            del conf
            batch = list(group)
            for key, value in {**DEFAULTS, **batch[0].step.conf}.items():
                self._spark.conf.set(key, value)
            holdfast.enable(self._spark)
            with ThreadPoolExecutor(_AT_ONCE) as pool:
                outcomes.update(zip(batch, pool.map(self._one, batch), strict=True))
        return outcomes

    def _one(self, cell: Cell) -> Outcome:
        number = next(self._count)
        job = CellJob(self._spark, self._url, f"cell-{number:03}", self._folder)
        try:
            outcome = run_cell(cell, job, self._proxy)
        except Exception as error:  # noqa: BLE001 - the other cells go on
            outcome = Outcome(text="?", problems=[f"{type(error).__name__}: {error}"])
        mark = "WRONG" if outcome.problems else "ok"
        passed = time.monotonic() - self._started
        line = (
            f"{passed:6.0f} s {number:4}/{self._total} {mark:5} {cell}: "
            f"{outcome.text} ({outcome.seconds:.1f} s)\n"
        )
        lines = [line, *(f"        {problem}\n" for problem in outcome.problems)]
        print("".join(lines), end="", flush=True)
        return outcome


def tell(outcomes: dict[Cell, Outcome], *, write: bool) -> int:
    """The table, then what is wrong."""
    table = render({(c.act, c.step, c.span): o.text for c, o in outcomes.items()})
    print(f"\n{table}\n")
    if write:
        keep(table)
    wrong = [cell for cell, outcome in outcomes.items() if outcome.problems]
    for cell in wrong:
        print(f"WRONG {cell}: {'; '.join(outcomes[cell].problems)}")
    print(f"{len(outcomes)} cells, {len(wrong)} of them wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
