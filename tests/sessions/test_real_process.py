"""Real processes on a local directory: killed with SIGKILL, and two at once."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.objectstore import LocalStore
from holdfast.sessions import SourceCheckpoint, SourceCheckpoints

if TYPE_CHECKING:
    from collections.abc import Iterator

WORKER = Path(__file__).with_name("worker.py")
DEADLINE_S = 30


@contextlib.contextmanager
def _worker(directory: Path, *, pause_s: float = 0) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, str(WORKER), str(directory), str(pause_s)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def _read(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def _kill(process: subprocess.Popen[str]) -> list[str]:
    """What it still said after it was told to die."""
    process.kill()
    said = _rest(process)
    assert process.returncode == -signal.SIGKILL
    # The last line may be cut off in the middle: only whole ones are reports.
    return said.split("\n")[:-1]


def _rest(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    said = process.stdout.read()
    process.wait(DEADLINE_S)
    return said


def test_a_killed_process_loses_no_reported_commit(tmp_path: Path) -> None:
    """The next process resumes where the last one was, both sources together, five times over."""
    resumed = 0
    for commits in (1, 3, 10, 20, 40):
        with _worker(tmp_path) as process:
            assert _read(process) == f"resumed {resumed}"
            reports = [_read(process) for _ in range(commits)]
            reported = int([*reports, *_kill(process)][-1])
        kept = SourceCheckpoints(LocalStore(tmp_path), "query").read_all_checkpoints()
        resumed = kept["left"].sequence
        assert resumed in (reported, reported + 1)
        expected = SourceCheckpoint(resumed, str(resumed).encode())
        assert kept == {"left": expected, "right": expected}


def test_of_two_processes_the_later_start_wins(tmp_path: Path) -> None:
    """The earlier one is fenced at its next commit and stops; the later goes on."""
    with _worker(tmp_path, pause_s=0.02) as earlier:
        assert _read(earlier) == "resumed 0"
        with _worker(tmp_path) as later:
            assert _read(later).startswith("resumed ")
            assert f"pid {later.pid}" in _rest(earlier).split("fenced", 1)[1]
            first = int(_read(later))
            assert int(_read(later)) == first + 1
