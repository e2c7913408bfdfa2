"""`make model`: explore for some minutes, print what was seen, and replay what broke."""

from __future__ import annotations

import argparse
import random
import sys
from functools import partial

from tests.model.execution import ChainExecution
from tests.model.explorer import Result, ViolationError, follow
from tests.model.run import explore_all, tasks_for
from tests.model.scenarios import SCENARIOS


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.model", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    explore = commands.add_parser("explore", help="search for a schedule that breaks an invariant")
    explore.add_argument("--minutes", type=float, default=5.0)
    explore.add_argument("--seed", type=int, default=None, help="the order in which to search")
    replay = commands.add_parser("replay", help="run one schedule again, step by step")
    replay.add_argument("scenario", choices=SCENARIOS)
    replay.add_argument("token", help="as printed by explore")
    arguments = parser.parse_args()
    if arguments.command == "replay":
        return replay_one(arguments.scenario, arguments.token)
    seed = random.randrange(1 << 32) if arguments.seed is None else arguments.seed
    return explore_for(arguments.minutes, seed)


def explore_for(minutes: float, seed: int) -> int:
    print(f"exploring {len(SCENARIOS)} scenarios for {minutes:g} minutes, seed {seed}", flush=True)
    total = explore_all(tasks_for(minutes=minutes, seed=seed), progress=show)
    print(f"explored {total.schedules:,} schedules, {total.states:,} states in all")
    for text in total.broken():
        print(text)
    return 1 if total.broken() else 0


def show(name: str, result: Result) -> None:
    print(f"  {'BROKEN' if result.violation else 'holds '}  {name}: {result}", flush=True)


def replay_one(scenario: str, token: str) -> int:
    begin = partial(ChainExecution, SCENARIOS[scenario], set())
    try:
        for step in follow(begin, token):
            print(step, flush=True)
    except ViolationError as error:
        print(f"BROKEN: {error}")
        return 1
    print("holds")
    return 0


if __name__ == "__main__":
    sys.exit(main())
