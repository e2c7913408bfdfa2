"""Exhaustive search over the choices of a scheduler, by running every schedule for real.

Each run follows one schedule to its end, or to a state that was explored before (the same store,
the same history of every actor). Schedules with few interruptions come first: a choice costs 1 if
it takes the turn from an actor that could go on, or is a fault; what is cheapest is tried next.
So what breaks, breaks with a short story, and a search that runs to its end has seen everything.
"""

from __future__ import annotations

import base64
import contextlib
import heapq
import itertools
import random
import time
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class ViolationError(AssertionError):
    """An invariant does not hold."""


class Execution(Protocol):
    """One run of the system under test."""

    def options(self) -> list[tuple[int, str]]:
        """The choices that can be made now, each with its cost; none at the end."""

    def choose(self, option: str) -> None:
        """Make one."""

    def fingerprint(self) -> Any:
        """Equal for states that cannot differ from here on."""

    def check(self) -> None:
        """Raise ViolationError if an invariant does not hold here."""

    def close(self) -> None:
        """This run ends here, wherever it is."""


@dataclass
class Result:
    """What a search did; `schedule` is the one that broke an invariant."""

    schedules: int = 0
    states: int = 0
    steps: int = 0
    interruptions: int = 0
    seconds: float = 0.0
    complete: bool = False
    violation: str = ""
    schedule: list[str] = field(default_factory=list)

    @property
    def token(self) -> str:
        """The schedule in one word, from which `follow` runs it again."""
        packed = zlib.compress("\n".join(self.schedule).encode(), 9)
        return base64.urlsafe_b64encode(packed).decode()

    def __str__(self) -> str:
        seen = f"all with fewer than {self.interruptions}, some with {self.interruptions}"
        bound = "all there are" if self.complete else f"{seen} interruptions"
        return (
            f"{self.schedules:,} schedules ({bound}), "
            f"{self.states:,} states, {self.steps:,} steps in {self.seconds:.1f} s"
        )


@dataclass(frozen=True, slots=True)
class _Node:
    """A schedule, as its last choice and the schedule before it."""

    before: _Node | None
    option: str

    def options(self) -> list[str]:
        found: list[str] = []
        node: _Node | None = self
        while node is not None:
            found.append(node.option)
            node = node.before
        return found[::-1]


class Search:
    """A search that can be run in slices."""

    def __init__(self, begin: Callable[[], Execution], *, seed: int = 0) -> None:
        self._begin = begin
        self._order = random.Random(seed)
        self._tie = itertools.count()
        self._seen: set[int] = set()
        self._waiting: list[tuple[int, float, int, _Node | None]] = [(0, 0.0, 0, None)]
        self.result = Result()

    def run(self, *, schedules_max: int | None = None, seconds_max: float | None = None) -> Result:
        """Go on until everything was seen, something broke, or a limit is reached."""
        started = time.monotonic()
        result, before = self.result, self.result.seconds
        for _ in self._runs():
            result.seconds = before + time.monotonic() - started
            if schedules_max is not None and result.schedules >= schedules_max:
                break
            if seconds_max is not None and time.monotonic() - started >= seconds_max:
                break
        result.seconds = before + time.monotonic() - started
        result.complete = not self._waiting and not result.violation
        return result

    def _runs(self) -> Iterator[None]:
        while self._waiting and not self.result.violation:
            cost, _, _, node = heapq.heappop(self._waiting)
            self._run_one(cost, node)
            yield

    def _run_one(self, cost: int, node: _Node | None) -> None:
        self.result.schedules += 1
        self.result.interruptions = max(self.result.interruptions, cost)
        with contextlib.closing(self._begin()) as execution:
            self._follow(execution, cost, node)

    def _follow(self, execution: Execution, cost: int, node: _Node | None) -> None:
        try:
            if node is not None and node.before is not None:
                for option in node.before.options():
                    execution.choose(option)
                    self.result.steps += 1
            if node is not None:
                self._choose(execution, node)
            self._extend(execution, cost, node)
        except _FoundError as found:
            self.result.violation = str(found)
            self.result.schedule = found.node.options() if found.node else []

    def _extend(self, execution: Execution, cost: int, node: _Node | None) -> None:
        while True:
            key = hash(execution.fingerprint())
            if key in self._seen:
                return
            self._seen.add(key)
            self.result.states += 1
            try:
                execution.check()
            except ViolationError as error:
                raise _FoundError(str(error), node) from error
            options = execution.options()
            if not options:
                return
            self._order.shuffle(options)
            options.sort(key=lambda item: item[0])
            (price, option), *others = options
            for other_price, other in others:
                self._put_off(cost + other_price, _Node(node, other))
            if price:
                self._put_off(cost + price, _Node(node, option))
                return
            node = _Node(node, option)
            self.result.steps += 1
            self._choose(execution, node)

    @staticmethod
    def _choose(execution: Execution, node: _Node) -> None:
        """Whatever the code under test raises that is not an answer is a violation, too."""
        try:
            execution.choose(node.option)
        except ViolationError as error:
            raise _FoundError(str(error), node) from error
        except Exception as error:
            raise _FoundError(f"{type(error).__name__}: {error}", node) from error

    def _put_off(self, cost: int, node: _Node) -> None:
        """Equal costs come in random order, so that a search cut short has seen a bit of all."""
        heapq.heappush(self._waiting, (cost, self._order.random(), next(self._tie), node))


class _FoundError(Exception):
    def __init__(self, message: str, node: _Node | None) -> None:
        super().__init__(message)
        self.node = node


def explore(
    begin: Callable[[], Execution],
    *,
    schedules_max: int | None = None,
    seconds_max: float | None = None,
    seed: int = 0,
) -> Result:
    """One search from beginning to end or limit."""
    return Search(begin, seed=seed).run(schedules_max=schedules_max, seconds_max=seconds_max)


def follow(
    begin: Callable[[], Execution], token: str, *, while_possible: bool = False
) -> Iterator[str]:
    """Run one schedule again, checking every state; raises what it raised before.

    `while_possible` ends where the code under test, changed since, no longer comes to a choice.
    """
    schedule = zlib.decompress(base64.urlsafe_b64decode(token)).decode().splitlines()
    with contextlib.closing(begin()) as execution:
        for option in schedule:
            if while_possible and option not in {choice for _, choice in execution.options()}:
                return
            yield option
            execution.choose(option)
            execution.check()
