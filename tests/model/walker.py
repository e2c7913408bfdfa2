"""Random walks: schedules drawn by chance, with operations and settings drawn by chance, too.

A search within bounds sees every short story; a walk sees long ones. What breaks is shrunk: steps
are left out as long as the same invariant still breaks.
"""

from __future__ import annotations

import base64
import contextlib
import random
import time
import zlib
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import orjson

from holdfast.settings import LIST_PAGE_MAX
from tests.model.bounds import Bounds
from tests.model.execution import ChainExecution
from tests.model.explorer import ViolationError
from tests.model.memory import remembering

if TYPE_CHECKING:
    from collections.abc import Iterable

_STEPS_MAX = 600
_CHECKED_SHARE = 0.1


@dataclass
class Walked:
    """What some walks did; `schedule` is the shortest one found that breaks an invariant."""

    walks: int = 0
    steps: int = 0
    violation: str = ""
    bounds: Bounds = field(default_factory=Bounds)
    schedule: list[str] = field(default_factory=list)

    @property
    def token(self) -> str:
        """The bounds and the schedule in one word, from which `replay` runs them again."""
        document = orjson.dumps({"bounds": asdict(self.bounds), "schedule": self.schedule})
        return base64.urlsafe_b64encode(zlib.compress(document, 9)).decode()


def parse_token(token: str) -> tuple[Bounds, list[str]]:
    document = orjson.loads(zlib.decompress(base64.urlsafe_b64decode(token)))
    return Bounds(**document["bounds"]), document["schedule"]


def walk(*, seconds_max: float, seed: int) -> Walked:
    """Walk until time is up or something breaks."""
    total, chance = Walked(), random.Random(seed)
    end = time.monotonic() + seconds_max
    with remembering():
        while time.monotonic() < end and not total.violation:
            total.walks += 1
            total.bounds = random_bounds(chance)
            total.schedule, total.violation = walk_once(total.bounds, chance)
            total.steps += len(total.schedule)
        if total.violation:
            total.schedule, total.violation = shrink(total.bounds, total.schedule, total.violation)
    return total


def random_bounds(chance: random.Random) -> Bounds:
    """A mix of a few operations and faults, under some settings."""

    def some(most: int, share: float = 0.5) -> int:
        return chance.randint(1, most) if chance.random() < share else 0

    tags, clones = some(3), some(2, 0.4)
    return Bounds(
        drivers=chance.randint(1, 3),
        starts=chance.randint(2, 5),
        batches=chance.randint(1, 7),
        crashes=some(3),
        lost_replies=some(2),
        late=some(3),
        duplicates=some(2),
        rollbacks=some(2, 0.4),
        resets=some(1, 0.3),
        removals=some(2, 0.3),
        purges=some(2, 0.3),
        retentions=some(4, 0.7),
        sweeps=some(2, 0.3),
        upkeep=some(3),
        tags=tags,
        tags_of_tags=some(2) if tags else 0,
        untags=some(2) if tags else 0,
        clones=clones,
        clones_of_tags=some(1) if tags else 0,
        clones_of_clones=some(1) if clones else 0,
        clone_removals=some(2) if clones else 0,
        window=chance.randint(1, 3),
        keep=chance.randint(1, 3),
        full_every=chance.randint(1, 4),
        page=chance.choice((1, 2, 3, LIST_PAGE_MAX)),
        inline=chance.random() < 0.2,
        growing=chance.random() < 0.2,
        large=chance.random() < 0.5,
        varied=chance.random() < 0.3,
        configs=chance.random() < 0.2,
    )


def walk_once(bounds: Bounds, chance: random.Random) -> tuple[list[str], str]:
    """One schedule, and what it broke."""
    switches = chance.choice((0.02, 0.1, 0.3))
    schedule: list[str] = []
    with contextlib.closing(ChainExecution(bounds)) as execution:
        try:
            for _ in range(_STEPS_MAX):
                options = execution.options()
                if not options:
                    break
                free = [option for cost, option in options if not cost]
                any_one = [option for _, option in options]
                pool = any_one if not free or chance.random() < switches else free
                schedule.append(chance.choice(pool))
                execution.choose(schedule[-1])
                if chance.random() < _CHECKED_SHARE:
                    execution.check()
            execution.check()
        except ViolationError as error:
            return schedule, str(error)
        except Exception as error:  # noqa: BLE001 - whatever is no answer is a violation
            return schedule, f"{type(error).__name__}: {error}"
    return schedule, ""


def shrink(bounds: Bounds, schedule: list[str], violation: str) -> tuple[list[str], str]:
    """The shortest schedule that leaving steps out leads to, and what it breaks."""
    shortest, said = broken_by(bounds, schedule) or (schedule, violation)
    size = max(1, len(shortest) // 2)
    while True:
        before = len(shortest)
        start = 0
        while start < len(shortest):
            tried = broken_by(bounds, shortest[:start] + shortest[start + size :])
            if tried is not None and tried[1][:2] == violation[:2]:
                shortest, said = tried
            else:
                start += size
        if size == 1 and len(shortest) == before:
            return shortest, said
        size = max(1, size // 2)


def broken_by(bounds: Bounds, schedule: Iterable[str]) -> tuple[list[str], str] | None:
    """The steps up to the first violation, and that; steps that are not possible are left out."""
    done: list[str] = []
    with contextlib.closing(ChainExecution(bounds)) as execution:
        try:
            for option in schedule:
                if option in {choice for _, choice in execution.options()}:
                    done.append(option)
                    execution.choose(option)
                    execution.check()
        except ViolationError as error:
            return done, str(error)
        except Exception as error:  # noqa: BLE001 - whatever is no answer is a violation
            return done, f"{type(error).__name__}: {error}"
    return None


def walk_many(*, seconds: float, seed: int, processes: int) -> list[Walked]:
    """As many walks at once as there are processes."""
    from concurrent.futures import ProcessPoolExecutor

    work = partial(_walk_for, seconds)
    with ProcessPoolExecutor(max_workers=processes) as pool:
        return list(pool.map(work, [seed * 1000 + number for number in range(processes)]))


def _walk_for(seconds: float, seed: int) -> Walked:
    return walk(seconds_max=seconds, seed=seed)
