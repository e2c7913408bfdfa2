"""Runs the contenders against each other: in turns, so that whatever disturbs, disturbs all."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from tests.bench import machine
from tests.bench.contenders import LOCAL_MASTER, ON_S3, S3, bucket_of, location, session_conf
from tests.bench.feed import Feed, make_pool
from tests.spark.processes import SPARK_HOME, Child

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import ExitStack

    from tests.bench.contenders import Places, Setting
    from tests.bench.said import Said
    from tests.bench.traffic import Account, Traffic

T = TypeVar("T")
_WORKER = "tests.bench.worker"
_ROUND_SECONDS_MAX = 1800


@dataclass(kw_only=True)
class Taken:
    """What one contender did in one setting, by round; processor time is of Python and the JVM."""

    batch_ms: list[list[float]] = field(default_factory=list)
    restart_ms: list[float] = field(default_factory=list)
    cpu_ms: list[float] = field(default_factory=list)
    parts: list[dict[str, float]] = field(default_factory=list)
    per_batch: Traffic | None = None
    per_restart: Traffic | None = None


class Field:
    """Every contender in a process of its own, all of them alive during the whole run."""

    def __init__(self, stack: ExitStack, places: Places, said: Said) -> None:
        self._stack = stack
        self._places = places
        self._said = said
        self._pool = make_pool(places.folder / "pool")
        self._children: dict[str, Child] = {}

    def child(self, contender: str, master: str = LOCAL_MASTER) -> Child:
        """The contender's process, with its session open; of a cluster, the driver's."""
        name = contender if master == LOCAL_MASTER else f"{contender}-cluster"
        if name not in self._children:
            log = self._places.folder / f"{name}.log"
            child = self._stack.enter_context(Child(log, env={"SPARK_HOME": str(SPARK_HOME)}))
            conf = session_conf(contender, self._places, master)
            child.send(f"{_WORKER}:open_session", conf=conf, master=master)
            child.jvm_pid = int(child.answer(_ROUND_SECONDS_MAX))
            self._children[name] = child
        return self._children[name]

    def race(self, setting: Setting, account: Account) -> dict[str, Taken]:
        """All rounds of one setting, then the count of requests."""
        lanes = [Lane(self, contender, setting) for contender in setting.contenders]
        for lane in lanes:
            lane.run(setting.warmup)
            self._said.step(f"{setting.name}: {lane.contender} is warm")
        for number, turn in enumerate(turns(lanes, setting.rounds), start=1):
            for lane in turn:
                restart, batches = lane.measure(setting.batches)
                shown = f"p50 {statistics.median(batches):,.0f} ms, restart {restart:,.0f} ms"
                self._said.step(
                    f"{setting.name}: round {number} of {setting.rounds}: {lane.contender}: {shown}"
                )
        for lane in lanes:
            if setting.counted and lane.contender in ON_S3:
                ours = lane.contender == S3
                lane.count(account, setting.counted_ours if ours else setting.counted)
                total = lane.taken.per_batch.total if lane.taken.per_batch else 0
                self._said.step(f"{setting.name}: {lane.contender}: {total:,.2f} requests a batch")
        return {lane.contender: lane.taken for lane in lanes}

    def feed(self, contender: str, setting: Setting) -> Feed:
        return Feed(self._pool, self._places.folder / "in" / f"{contender}-{setting.name}")

    def place(self, contender: str, setting: Setting) -> str:
        return location(contender, setting, self._places)


class Lane:
    """One contender in one setting: its process, its input and its checkpoint."""

    def __init__(self, field: Field, contender: str, setting: Setting) -> None:
        self.contender = contender
        self.taken = Taken()
        self._child = field.child(contender, setting.master)
        self._feed = field.feed(contender, setting)
        self._query = {
            "folder": str(self._feed.folder),
            "location": field.place(contender, setting),
            "conf": setting.conf(),
        }

    def run(self, batches: int) -> dict[str, Any]:
        """Start the query, let it run so many batches, and stop it."""
        self._feed.give(batches)
        answer: dict[str, Any] = self._ask("run_round", **self._query)
        if len(answer["batches"]) != batches:
            raise RuntimeError(f"{self.contender}: {len(answer['batches'])} of {batches} batches")
        return answer

    def measure(self, batches: int) -> tuple[float, list[float]]:
        """The same, timed; the first batch of a start has all state to load, and is the restart."""
        before = machine.cpu_ms(self._child.pid, self._child.jvm_pid)
        answer = self.run(1 + batches)
        spent = machine.cpu_ms(self._child.pid, self._child.jvm_pid) - before
        self.taken.cpu_ms.append(spent / (1 + batches))
        first, *rest = answer["batches"]
        restart, times = first["ended_ms"] - answer["started_ms"], [each["ms"] for each in rest]
        self.taken.restart_ms.append(restart)
        self.taken.batch_ms.append(times)
        self.taken.parts += [each["parts"] for each in rest]
        return restart, times

    def count(self, account: Account, batches: int) -> None:
        """What the server was asked for: by a start with its first batch, and by each batch."""
        bucket = bucket_of(self.contender, is_far=False)
        self._feed.give(1)
        before = account.read(bucket)
        self._ask("begin", **self._query)
        self._ask("wait_for", batches=1, seconds=_ROUND_SECONDS_MAX)
        started = account.read(bucket)
        self._feed.give(batches)
        self._ask("wait_for", batches=1 + batches, seconds=_ROUND_SECONDS_MAX)
        done = account.read(bucket)
        self._ask("end")
        self.taken.per_restart = started - before
        self.taken.per_batch = (done - started) / batches

    def _ask(self, task: str, **args: Any) -> Any:
        self._child.send(f"{_WORKER}:{task}", **args)
        return self._child.answer(_ROUND_SECONDS_MAX)


def turns(runners: Sequence[T], rounds: int) -> Iterator[list[T]]:
    """Who runs when: everybody once a round, and each round begins with another."""
    for number in range(rounds):
        first = number % len(runners)
        yield [*runners[first:], *runners[:first]]
