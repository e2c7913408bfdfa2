"""`make bench-growth`: how cost grows with batches, partitions, live files and chain length.

Each line is a cost at a few sizes and its slope: the exponent of the power law through them, so 0
is flat and 1 proportional. A line that is not flat has to say why.
"""

from __future__ import annotations

import json
import math
import os
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from tests.bench import growth_core, growth_spark, machine

if TYPE_CHECKING:
    from tests.bench.points import Line

OUTPUT = Path("build/bench-growth.json")
FLAT_MAX = 0.15


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A line with its slope; one that grows is right only if it was expected to."""

    line: Line
    slope: float

    @property
    def verdict(self) -> str:
        if self.slope <= FLAT_MAX:
            return "flat"
        return self.line.explained or "GROWS, and nobody knows why"

    @property
    def holds(self) -> bool:
        return self.slope <= FLAT_MAX or bool(self.line.explained)


def slope(points: dict[int, float]) -> float:
    """The least-squares exponent; what is zero counts as a thousandth."""
    xs = [math.log(size) for size in points]
    ys = [math.log(max(cost, 0.001)) for cost in points.values()]
    x_mean, y_mean = sum(xs) / len(xs), sum(ys) / len(ys)
    spread = sum((x - x_mean) ** 2 for x in xs)
    return sum((x - x_mean) * (y - y_mean) for x, y in zip(xs, ys, strict=True)) / spread


def main() -> int:
    quick = os.environ.get("QUICK", "") not in ("", "0")
    console = Console(width=None if sys.stdout.isatty() else 140)
    judged = []
    for name, lines in (("core", growth_core.lines), ("Spark", growth_spark.lines)):
        console.print(f"[dim]{machine.now()}[/dim] {name} …", highlight=False)
        judged += [Judged(line=line, slope=slope(line.points)) for line in lines(quick=quick)]
    console.print(table(judged))
    OUTPUT.parent.mkdir(exist_ok=True)
    document = {
        "date": machine.now(),
        "quick": quick,
        "machine": machine.machine(),
        "lines": [
            {**asdict(each.line), "slope": round(each.slope, 3), "verdict": each.verdict}
            for each in judged
        ],
    }
    OUTPUT.write_text(json.dumps(document, indent=2) + "\n")
    console.print(f"written to {OUTPUT}")
    return 0 if all(each.holds for each in judged) else 1


def table(judged: list[Judged]) -> Table:
    shown = Table(title="how cost grows", title_justify="left")
    for name in ("with", "cost", "at sizes", "slope", "which is"):
        shown.add_column(name, justify="right" if name == "slope" else "left")
    for each in judged:
        points = "  ".join(f"{size:,}: {cost:.3g}" for size, cost in each.line.points.items())
        colour = "green" if each.holds else "red"
        cost = f"{each.line.cost}, {each.line.unit}"
        shown.add_row(
            each.line.axis, cost, points, f"{each.slope:+.2f}", f"[{colour}]{each.verdict}"
        )
    return shown


if __name__ == "__main__":
    sys.exit(main())
