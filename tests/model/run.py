"""Run scenarios side by side, in slices, and add up what was explored."""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from tests.model.execution import ChainExecution
from tests.model.explorer import Result, Search
from tests.model.memory import remembering
from tests.model.scenarios import SCENARIOS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


@dataclass(frozen=True, kw_only=True)
class Task:
    """One scenario within a limit."""

    name: str
    schedules_max: int | None = None
    seconds_max: float | None = None
    seed: int = 0


@dataclass
class Total:
    """All results, by scenario."""

    results: dict[str, Result] = field(default_factory=dict)

    @property
    def schedules(self) -> int:
        return sum(result.schedules for result in self.results.values())

    @property
    def states(self) -> int:
        return sum(result.states for result in self.results.values())

    def broken(self) -> list[str]:
        """A text for each scenario that broke, with the schedule that breaks it."""
        return [explain(name, r) for name, r in self.results.items() if r.violation]


def explain(name: str, result: Result) -> str:
    steps = "\n".join(f"    {step}" for step in result.schedule)
    return (
        f"{name}: {result.violation}\n{steps}\n"
        f"  replay: python -m tests.model replay {name!r} {result.token}"
    )


def explore_one(task: Task) -> Result:
    """One search; runs in a process of its own."""
    lone_checked: set[object] = set()
    begin = partial(ChainExecution, SCENARIOS[task.name], lone_checked)
    search = Search(begin, seed=task.seed)
    with remembering():
        return search.run(schedules_max=task.schedules_max, seconds_max=task.seconds_max)


def explore_all(
    tasks: Iterable[Task], *, progress: Callable[[str, Result], None] | None = None
) -> Total:
    """All tasks, on all processors."""
    wanted = list(tasks)
    total = Total()
    with ProcessPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        for task, result in zip(wanted, pool.map(explore_one, wanted), strict=True):
            total.results[task.name] = result
            if progress is not None:
                progress(task.name, result)
    return total


def tasks_for(*, minutes: float, seed: int) -> list[Task]:
    """Every scenario gets its share of the time."""
    share = minutes * 60 * (os.cpu_count() or 1) / len(SCENARIOS)
    return [Task(name=name, seconds_max=share, seed=seed) for name in SCENARIOS]
