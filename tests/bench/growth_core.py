"""How the chain's cost grows with live files and with its own length, on a store in memory."""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING, TypeVar

from holdfast.chain import Chain, NewFile
from holdfast.objectstore import MemoryStore, Meter, MeteredStore
from holdfast.settings import LIST_PAGE_MAX, ChainSettings
from tests.bench.points import Line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from holdfast.chain import ChainWriter, Committed

T = TypeVar("T")

LIVE_FILES = (1_000, 3_000, 10_000, 30_000, 100_000)
LENGTHS = (10, 100, 1_000, 10_000)
_QUICK_MAX = 10_000
_NEW_FILES = 10
_KEEP = 1_000_000


class Bench:
    """One chain in memory, counted and timed."""

    def __init__(self) -> None:
        self.meter = Meter()
        store = MeteredStore(MemoryStore(), self.meter)
        self.chain = Chain(store, "orders", settings=ChainSettings(retain=_KEEP))
        self.writer: ChainWriter = self.chain.claim()
        self.batch = 0

    def commit(self, files: int = _NEW_FILES) -> Committed:
        """A batch that replaces as many files as it adds."""
        done = self.writer.commit(
            self.batch,
            [
                NewFile(path=f"state/{number:06}", mtime_ms=self.batch, body=b"%020d" % number)
                for number in range(files)
            ],
        )
        self.batch += 1
        return done

    def spent(self, call: Callable[[], T]) -> tuple[float, int, T]:
        """Milliseconds and requests of a call, and what it returns."""
        before, started = self.meter.usage(), time.perf_counter()
        answer = call()
        took = (time.perf_counter() - started) * 1000
        return took, (self.meter.usage() - before).total, answer


def lines(*, quick: bool) -> Iterator[Line]:
    yield from live_files([size for size in LIVE_FILES if not quick or size <= _QUICK_MAX])
    yield from chain_length([size for size in LENGTHS if not quick or size <= _QUICK_MAX // 10])


def live_files(sizes: list[int]) -> Iterator[Line]:
    """A batch of ten files beside many that stay as they are."""
    commit: dict[int, float] = {}
    requests: dict[int, float] = {}
    full: dict[int, float] = {}
    claim: dict[int, float] = {}
    claim_requests: dict[int, float] = {}
    for size in sizes:
        bench = Bench()
        bench.commit(size)
        ordinary, every = [], 0
        for _ in range(64):
            took, count, done = bench.spent(bench.commit)
            if done.full:
                full[size] = took
            else:
                ordinary.append(took)
                every = max(every, count)
        commit[size], requests[size] = statistics.median(ordinary), every
        claim[size], claim_requests[size], _ = bench.spent(bench.chain.claim)
    axis = "live files"
    yield Line(axis=axis, cost="a commit", unit="ms", points=commit)
    yield Line(axis=axis, cost="a commit", unit="requests", points=requests)
    yield Line(
        axis=axis,
        cost="every 64th commit",
        unit="ms",
        points=full,
        explained="a full manifest lists every live file, and carries the bytes of the inlined",
    )
    yield Line(
        axis=axis,
        cost="a claim",
        unit="ms",
        points=claim,
        explained="reads the last full manifest and writes its own, each with every live file",
    )
    yield Line(axis=axis, cost="a claim", unit="requests", points=claim_requests)


def chain_length(sizes: list[int]) -> Iterator[Line]:
    """One batch more, and one start more, on a chain that nothing was pruned from."""
    commit: dict[int, float] = {}
    requests: dict[int, float] = {}
    claim: dict[int, float] = {}
    claim_requests: dict[int, float] = {}
    bench = Bench()
    for size in sizes:
        while bench.batch < size:
            bench.commit()
        times = [bench.spent(bench.commit) for _ in range(20)]
        commit[size] = statistics.median(took for took, _, _ in times)
        requests[size] = statistics.median(count for _, count, _ in times)
        claims = [bench.spent(bench.chain.claim) for _ in range(3)]
        claim[size] = min(took for took, _, _ in claims)
        claim_requests[size] = min(count for _, count, _ in claims)
        bench.writer = bench.chain.claim()
    axis = "chain length"
    listing = f"a listing has {LIST_PAGE_MAX:,} names a page"
    yield Line(axis=axis, cost="a commit", unit="ms", points=commit)
    yield Line(axis=axis, cost="a commit", unit="requests", points=requests)
    yield Line(axis=axis, cost="a claim", unit="ms", points=claim, explained=listing)
    yield Line(axis=axis, cost="a claim", unit="requests", points=claim_requests, explained=listing)
