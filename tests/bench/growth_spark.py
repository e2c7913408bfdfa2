"""How a query's cost grows with its batches and its partitions, on MinIO, beside the floor."""

from __future__ import annotations

import statistics
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rich.console import Console

from tests.bench.contenders import FLOOR, S3, SETTINGS, location
from tests.bench.ground import set_up
from tests.bench.points import Line
from tests.bench.rounds import Field
from tests.bench.said import Said
from tests.s3 import server

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.bench.contenders import Places, Setting

BATCHES = (10, 30, 100, 300, 1_000)
PARTITIONS = (1, 10, 50, 200, 500)
_WARMUP = 40
_PER_SIZE = 10
_SECONDS_MAX = 3600
_WORKER = "tests.bench.worker"
_GATES = ("walCommit", "commitOffsets")
_MORE_PROGRESS = {"spark.sql.streaming.numRecentProgressUpdates": "2000"}


def lines(*, quick: bool) -> Iterator[Line]:
    batches = [size for size in BATCHES if not quick or size <= 100]
    partitions = [size for size in PARTITIONS if not quick or size <= 50]
    console = Console()
    with ExitStack() as stack:
        places = set_up(stack, server.choose(console.print), console)
        said = Said(console, 2 + len(batches) + 2 * len(partitions))
        field = Field(stack, places, said)
        lane = Watched(field, S3, places)
        for each in (lane, Watched(field, FLOOR, places)):
            each.grow(_setting("warm", 10), [_WARMUP])
            said.step("Spark is warm")
        yield from _by_batches(lane, batches, said)
        yield from _by_partitions(field, places, partitions, said)


class Watched:
    """One contender whose queries run on, and are looked at from time to time."""

    def __init__(self, field: Field, contender: str, places: Places) -> None:
        self._field = field
        self._contender = contender
        self._places = places

    def grow(self, setting: Setting, sizes: Sequence[int]) -> list[dict[str, Any]]:
        """A new query; what it took up to each of these numbers of batches since the one before."""
        child, feed = self._field.child(self._contender), self._field.feed(self._contender, setting)
        where = location(self._contender, setting, self._places)
        conf = {**setting.conf(), **_MORE_PROGRESS}
        child.send(f"{_WORKER}:begin", folder=str(feed.folder), location=where, conf=conf)
        child.answer(_SECONDS_MAX)
        looks, done, requests = [], 0, 0.0
        for size in sizes:
            feed.give(size - done)
            child.send(f"{_WORKER}:wait_for", batches=size, seconds=_SECONDS_MAX)
            child.answer(_SECONDS_MAX)
            every = child.call(f"{_WORKER}:finished")[done:]
            status = child.call(f"{_WORKER}:status", name=setting.name) if self._ours else {}
            used = status.get("requests", 0.0)
            looks.append({"batches": every, "requests": (used - requests) / (size - done)})
            done, requests = size, used
        child.call(f"{_WORKER}:end")
        return looks

    @property
    def _ours(self) -> bool:
        return self._contender == S3


def _by_batches(lane: Watched, sizes: list[int], said: Said) -> Iterator[Line]:
    """One query that runs on and on; each size stands for the batches since the one before."""
    looks = lane.grow(_setting("batches", 10), sizes)
    for size in sizes:
        said.step(f"{size:,} batches")
    axis = "batches"
    yield Line(
        axis=axis,
        cost="p50 batch",
        unit="ms",
        points={size: _p50(look["batches"]) for size, look in zip(sizes, looks, strict=True)},
    )
    yield Line(
        axis=axis,
        cost="the two gates of a batch",
        unit="ms",
        points={size: _gates(look["batches"]) for size, look in zip(sizes, looks, strict=True)},
    )
    # The first ten have the claim among them.
    later = dict(list(zip(sizes, (look["requests"] for look in looks), strict=True))[1:])
    yield Line(axis=axis, cost="a batch", unit="requests", points=later)


def _by_partitions(field: Field, places: Places, sizes: list[int], said: Said) -> Iterator[Line]:
    ours: dict[int, dict[str, Any]] = {}
    floor: dict[int, dict[str, Any]] = {}
    for size in sizes:
        for name, found in ((S3, ours), (FLOOR, floor)):
            setting = _setting(f"partitions-{size}", size)
            found[size] = Watched(field, name, places).grow(setting, [3, 3 + _PER_SIZE])[1]
            said.step(f"{size} partitions: {name}")
    axis = "partitions"
    yield Line(
        axis=axis,
        cost="a batch",
        unit="requests",
        points={size: look["requests"] for size, look in ours.items()},
    )
    yield Line(
        axis=axis,
        cost="the two gates of a batch",
        unit="ms",
        points={size: _gates(look["batches"]) for size, look in ours.items()},
        explained="a manifest names each partition's file; compare with the batch itself",
    )
    yield Line(
        axis=axis,
        cost="p50 batch",
        unit="x floor",
        points={
            size: _p50(look["batches"]) / _p50(floor[size]["batches"])
            for size, look in ours.items()
        },
    )


def _setting(name: str, partitions: int) -> Setting:
    return replace(SETTINGS[0], name=name, partitions=partitions)


def _p50(batches: Sequence[dict[str, Any]]) -> float:
    return float(statistics.median(each["ms"] for each in batches))


def _gates(batches: Sequence[dict[str, Any]]) -> float:
    gates = [sum(each["parts"].get(part, 0) for part in _GATES) for each in batches]
    return float(statistics.median(gates))
