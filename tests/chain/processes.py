"""Drivers as real processes, on any store that a process can open by its URL."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

from holdfast.chain import Chain
from holdfast.objectstore import open_store

WORKER = Path(__file__).with_name("worker.py")


def start(url: str, sink: Path) -> subprocess.Popen[str]:
    """A driver that has claimed."""
    process = subprocess.Popen(
        [sys.executable, str(WORKER), str(sink)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    print(url, file=process.stdin, flush=True)
    assert process.stdout.readline().startswith("claimed"), process.communicate()[1]
    return process


def kill(process: subprocess.Popen[str]) -> None:
    """SIGKILL: no handler runs, nothing is flushed."""
    process.kill()
    process.communicate()


def kill_again_and_again(url: str, sink: Path, *, kills: int, seconds_max: float) -> None:
    """After every kill the count is exact; each batch reached the sink with one plan."""
    order = random.Random(7)
    chain = Chain(open_store(url), "orders")
    for _ in range(kills):
        process = start(url, sink)
        time.sleep(order.uniform(0, seconds_max))
        kill(process)
        head = chain.recover(deep=True).head
        if head.batch >= 0:
            assert int(chain.read(head, ["count"])["count"]) == head.batch + 1
    head = chain.recover(deep=True).head
    plans: dict[str, set[str]] = {}
    for line in sink.read_text().splitlines():
        batch, plan = line.split()
        plans.setdefault(batch, set()).add(plan)
    assert head.batch > 0
    assert all(len(found) == 1 for found in plans.values())
    assert {str(batch) for batch in range(head.batch + 1)} <= set(plans)
    chain.retain(3)
    assert all(chain.validate(c.number).valid for c in chain.history())


def later_fences_earlier(url: str, sink: Path) -> None:
    """The earlier one stops at its next create, however fast it commits, and says who it was."""
    earlier = start(url, sink)
    later = start(url, sink)
    _, errors = earlier.communicate(timeout=60)
    assert "FencedError" in errors
    assert f"pid {later.pid}" in errors
    kill(later)
