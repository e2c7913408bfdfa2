"""Schedules written down by hand: what a search would find only after very many others.

A story is a list of steps. `A = start` begins an operation and calls its actor A; `A until TEXT`
lets A run until its next store call contains the text; `A ends` lets it run to its end; `A once`
lets its call take effect; `A dies`, `A gives up`, `A doubles`, `A hears nothing` are faults at its
next call; `deliver TEXT` delivers a request that was on its way.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from tests.model.explorer import Result, ViolationError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tests.model.execution import ChainExecution
    from tests.model.world import Actor

_STEPS_MAX = 2_000
_FAULTS = {
    "dies": "dies before:",
    "dies after": "dies after:",
    "gives up": "gives up on:",
    "doubles": "doubles:",
    "hears nothing": "hears nothing of:",
}


class StoryError(Exception):
    """The code under test does not come to a step of the story."""


def tell(begin: Callable[[], ChainExecution], story: Iterable[str]) -> Result:
    """Run a story, checking every state; the result has its schedule, and what it broke."""
    result = Result(schedules=1)
    with contextlib.closing(begin()) as execution:
        narrator = _Narrator(execution)
        try:
            for step in story:
                for option in narrator.options(step):
                    result.schedule.append(option)
                    execution.choose(option)
                    execution.check()
        except ViolationError as error:
            result.violation = str(error)
    return result


class _Narrator:
    def __init__(self, execution: ChainExecution) -> None:
        self._execution = execution
        self._actors: dict[str, Actor] = {}

    def options(self, step: str) -> Iterator[str]:
        """The scheduler's options that a step stands for, one after the other."""
        name, _, rest = step.partition(" ")
        if rest.startswith("= "):
            yield self._available(rest[2:])
            self._actors[name] = self._execution.world.actors[-1]
        elif name == "deliver":
            yield self._available("deliver ", rest)
        elif name in self._actors:
            yield from self._actor_options(self._actors[name], rest)
        else:
            yield self._available(step)

    def _actor_options(self, actor: Actor, rest: str) -> Iterator[str]:
        if rest.startswith("dies at half"):
            yield self._available(f"{actor.name} {rest} of:")
        elif rest in _FAULTS:
            yield self._available(f"{actor.name} {_FAULTS[rest]}")
        elif rest == "once":
            yield self._available(f"{actor.name}:")
        else:
            text = rest.removeprefix("until ") if rest != "ends" else ""
            for _ in range(_STEPS_MAX):
                if not actor.alive or (text and text in str(actor.call)):
                    break
                yield self._available(f"{actor.name}:")
            if text and not actor.alive:
                raise StoryError(f"{actor.name} has ended before: {rest}")

    def _available(self, start: str, part: str = "") -> str:
        options = [option for _, option in self._execution.options()]
        found = [each for each in options if each.startswith(start) and part in each]
        if not found:
            raise StoryError(f"no option {start}{part} among {options}")
        return found[0]
