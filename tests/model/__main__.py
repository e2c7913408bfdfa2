"""`make model`: walk at random for some minutes, print what was seen, and replay what broke."""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from functools import partial

from tests.model.execution import ChainExecution
from tests.model.explorer import Result, ViolationError, follow
from tests.model.run import explore_all, tasks_for
from tests.model.scenarios import SCENARIOS
from tests.model.walker import Walked, broken_by, parse_token, walk_many

SLICE_SECONDS = 60.0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.model", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    walk = commands.add_parser("walk", help="random schedules of random operations and settings")
    explore = commands.add_parser("explore", help="schedules of each scenario, cheapest first")
    for command in (walk, explore):
        command.add_argument("--minutes", type=float, default=5.0)
        command.add_argument("--seed", type=int, default=None, help="repeats a run")
    replay = commands.add_parser("replay", help="run one schedule again, step by step")
    replay.add_argument("scenario", choices=[*SCENARIOS, "walk"], metavar="SCENARIO|walk")
    replay.add_argument("token", help="as printed by explore or walk")
    arguments = parser.parse_args()
    if arguments.command == "replay":
        return replay_one(arguments.scenario, arguments.token)
    seed = random.randrange(1 << 32) if arguments.seed is None else arguments.seed
    run = walk_for if arguments.command == "walk" else explore_for
    return run(arguments.minutes, seed)


def walk_for(minutes: float, seed: int) -> int:
    """In slices, so that a long run says how far it is."""
    processes = os.cpu_count() or 1
    print(f"walking for {minutes:g} minutes on {processes} processors, seed {seed}", flush=True)
    end, walks, steps = time.monotonic() + minutes * 60, 0, 0
    while (left := end - time.monotonic()) > 0:
        found = walk_many(seconds=min(left, SLICE_SECONDS), seed=seed, processes=processes)
        walks += sum(each.walks for each in found)
        steps += sum(each.steps for each in found)
        seed += 1
        print(
            f"  {walks:,} walks, {steps:,} steps, {max(left, 0) / 60:.0f} minutes left", flush=True
        )
        broken = [each for each in found if each.violation]
        if broken:
            print_walk(min(broken, key=lambda each: len(each.schedule)))
            return 1
    print(f"walked {walks:,} schedules of {steps:,} steps; every invariant holds")
    return 0


def print_walk(walked: Walked) -> None:
    print(f"BROKEN: {walked.violation}\n{walked.bounds}")
    for step in walked.schedule:
        print(f"    {step}")
    print(f"  replay: python -m tests.model replay walk {walked.token}")


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
    if scenario == "walk":
        return replay_walk(token)
    begin = partial(ChainExecution, SCENARIOS[scenario], set())
    try:
        for step in follow(begin, token):
            print(step, flush=True)
    except ViolationError as error:
        print(f"BROKEN: {error}")
        return 1
    print("holds")
    return 0


def replay_walk(token: str) -> int:
    bounds, schedule = parse_token(token)
    broken = broken_by(bounds, schedule)
    for step in schedule if broken is None else broken[0]:
        print(step)
    print("holds" if broken is None else f"BROKEN: {broken[1]}")
    return 0 if broken is None else 1


if __name__ == "__main__":
    sys.exit(main())
