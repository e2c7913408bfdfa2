"""Every test here runs on both stores that need no server."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from holdfast.checkpoint import CheckpointStore
from holdfast.objectstore import LocalStore, MemoryStore, ObjectStore
from holdfast.testing import ManualClock

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def clock() -> ManualClock:
    """Starts at the real time, because a local store's files carry that."""
    return ManualClock(now_ms=time.time_ns() // 1_000_000)


@pytest.fixture(params=["memory", "local"])
def store(request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock) -> ObjectStore:
    return MemoryStore(clock=clock) if request.param == "memory" else LocalStore(tmp_path)


@pytest.fixture
def checkpoints(store: ObjectStore, clock: ManualClock) -> CheckpointStore:
    return CheckpointStore(store, "q", clock=clock)
