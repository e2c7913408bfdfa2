"""Real processes that race for the same ids on one directory."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from holdfast.checkpoint import CheckpointStore
from holdfast.objectstore import LocalStore

WORKER = Path(__file__).with_name("race_worker.py")
COUNT = 25


def race(directory: Path, names: list[str]) -> dict[str, list[int]]:
    """Which ids each process won."""
    workers = {
        name: subprocess.Popen(
            [sys.executable, str(WORKER), str(directory), name, str(COUNT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in names
    }
    for worker in workers.values():
        if worker.stdin is not None:
            worker.stdin.write("go\n")
            worker.stdin.flush()
    won = {}
    for name, worker in workers.items():
        out, _ = worker.communicate(timeout=60)
        assert worker.returncode == 0
        won[name] = json.loads(out)
    return won


def test_two_processes_never_both_win_an_id(tmp_path: Path) -> None:
    """Each id has one winner, whose manifest and sidecar are the ones stored."""
    won = race(tmp_path, ["left", "right"])
    assert sorted(won["left"] + won["right"]) == list(range(1, COUNT + 1))
    checkpoints = CheckpointStore(LocalStore(tmp_path), "q")
    for name, numbers in won.items():
        for number in numbers:
            stored = checkpoints.load_by_id(number)
            assert stored is not None
            assert stored.source_names == [name]
            assert checkpoints.load_state_data(number) == f"{name} {number}".encode()
            assert checkpoints.validate_checkpoint(number).valid
    assert checkpoints.recover_latest_validated().chosen_id == COUNT
