"""`make fuzz`: send changed bytes into every decoder for some minutes, from a printed seed."""

from __future__ import annotations

import argparse
import random
import sys
import time
import tracemalloc

from tests.fuzz.engine import FindingError, Fuzz, begin
from tests.fuzz.targets import targets

_TURN_SECONDS = 2.0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--seed", type=int, default=None, help="repeats the inputs of a run")
    parser.add_argument("--only", default="", help="targets whose name holds this text")
    arguments = parser.parse_args()
    seed = random.randrange(1 << 32) if arguments.seed is None else arguments.seed
    tracemalloc.start()
    runs = [begin(each, seed) for each in targets() if arguments.only in each.name]
    print(f"{len(runs)} decoders for {arguments.minutes:g} minutes, seed {seed}", flush=True)
    found = spend(runs, 60 * arguments.minutes)
    for run in runs:
        print(
            f"  {'BROKEN' if run.target.name in found else 'holds '}  {run.target.name}: "
            f"{run.inputs:,} inputs, {run.lines} lines reached, {len(run.corpus)} kept"
        )
    for finding in found.values():
        print(f"BROKEN {finding}")
    print(f"{sum(run.inputs for run in runs):,} inputs in all, seed {seed}")
    return 1 if found else 0


def spend(runs: list[Fuzz], seconds: float) -> dict[str, FindingError]:
    """Turn by turn; a decoder that breaks is left alone, and the others go on."""
    found: dict[str, FindingError] = {}
    end = time.monotonic() + seconds
    while time.monotonic() < end and len(found) < len(runs):
        for run in runs:
            if run.target.name in found:
                continue
            try:
                turn(run, min(end, time.monotonic() + _TURN_SECONDS))
            except FindingError as finding:
                found[run.target.name] = finding
    return found


def turn(run: Fuzz, until: float) -> None:
    while time.monotonic() < until:
        run.step()


if __name__ == "__main__":
    sys.exit(main())
