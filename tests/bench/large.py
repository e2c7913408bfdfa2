"""A commit of 64 MB of small state files: what it takes beyond the PUT, and how much memory."""

from __future__ import annotations

import os
import statistics
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.objectstore import open_store
from tests.bench.worker import spark

if TYPE_CHECKING:
    from collections.abc import Callable

FILES = 200
FILE_BYTES = 320 * 1024
TOTAL_BYTES = FILES * FILE_BYTES
_REPEATS = 3
_QUERY = "large"
_LOOK_S = 0.002


def run(store: str) -> dict[str, float]:
    """In a process that has a Holdfast session on this store; times in seconds, sizes in bytes."""
    session: Any = spark()
    conf, commit = session._jsc.hadoopConfiguration(), session._jvm.bench.LargeCommit
    root = f"holdfast:///{_QUERY}"
    commit.start(conf, root)
    heap: list[int] = []
    commit.timed(conf, root, 0, 1, 1)  # modules are loaded, a connection is open
    # Before any other of its size: memory that one gave back is taken again without growing.
    python = peak_growth(
        lambda: heap.append(commit.watched(conf, root, 1, FILES, FILE_BYTES)),
    )
    took = [
        commit.timed(conf, root, batch, FILES, FILE_BYTES) / 1e9 for batch in range(2, 2 + _REPEATS)
    ]
    return {
        "commit_s": statistics.median(took),
        "put_s": _plain_put(store),
        "heap_bytes": heap[0],
        "python_bytes": python,
    }


def _plain_put(store: str) -> float:
    """The same number of bytes to the same store, and nothing else."""
    opened, body = open_store(store), os.urandom(TOTAL_BYTES)
    took = []
    for number in range(_REPEATS):
        started = time.perf_counter()
        opened.put(f"plain/{number}", body)
        took.append(time.perf_counter() - started)
    return statistics.median(took)


def peak_growth(call: Callable[[], object]) -> int:
    """How much this process's own memory grows at the call's worst moment.

    Pages of files that it maps, as the spool's, are not its own.
    """
    before = _own_memory()
    highest, done = before, threading.Event()

    def watch() -> None:
        nonlocal highest
        while not done.wait(_LOOK_S):
            highest = max(highest, _own_memory())

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        call()
    finally:
        done.set()
        watching.join()
    return highest - before


def _own_memory() -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) * 1024
    raise LookupError("RssAnon")
