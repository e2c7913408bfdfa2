"""Real processes on a real directory: killed with SIGKILL, and two at a time."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

from holdfast.chain import Chain
from holdfast.objectstore import LocalStore

WORKER = Path(__file__).with_name("worker.py")
KILLS = 12


def start(root: Path, sink: Path) -> subprocess.Popen[str]:
    """A driver that has claimed."""
    process = subprocess.Popen(
        [sys.executable, str(WORKER), str(root), str(sink)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline().startswith("claimed")
    return process


def kill(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()
    if process.stdout is not None:
        process.stdout.close()


def test_killed_again_and_again_no_batch_is_lost_or_planned_twice(tmp_path: Path) -> None:
    """After every kill the count is exact, and each batch reached the sink with one plan."""
    root, sink = tmp_path / "store", tmp_path / "sink"
    order = random.Random(7)
    chain = Chain(LocalStore(root), "orders")
    for _ in range(KILLS):
        process = start(root, sink)
        time.sleep(order.uniform(0, 0.15))
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


def test_the_later_of_two_processes_wins_and_the_earlier_ends(tmp_path: Path) -> None:
    """The earlier one stops at its next create, however fast it commits."""
    root, sink = tmp_path / "store", tmp_path / "sink"
    earlier = subprocess.Popen(
        [sys.executable, str(WORKER), str(root), str(sink)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert earlier.stdout is not None
    earlier.stdout.readline()
    later = start(root, sink)
    _, errors = earlier.communicate(timeout=30)
    assert "FencedError" in errors
    assert f"pid {later.pid}" in errors
    kill(later)
