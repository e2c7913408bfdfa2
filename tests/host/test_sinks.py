"""Sinks without Spark: what a manifest keeps of them, and what they must not do."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any

import pytest

from holdfast.errors import MisuseError
from holdfast.spark import batchsources, sinks
from holdfast.spark.background import Background
from holdfast.spark.ledgers import DatabaseLedger
from tests.host.jvm import FakeJvm

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from holdfast.spark.host import Host
    from holdfast.spark.run import Run

FRAME: Any = None


@pytest.fixture
def run(make_host: Callable[..., Host], monkeypatch: pytest.MonkeyPatch) -> Run:
    """A run with a batch that is planned, which every sink finds."""
    jvm = FakeJvm(make_host())
    jvm.write("offsets/0", b"v1\n{}\n0")
    jvm.host.intent(jvm.key, jvm.claim, 0, jvm.tell())
    found = jvm.host._run(jvm.key, jvm.claim)
    for module in (sinks, batchsources):
        monkeypatch.setattr(module, "current_run", lambda _: found)
    return found


def test_a_position_is_not_staged_in_a_sink_that_a_replay_skips(run: Run, tmp_path: Path) -> None:
    """The batch would be committed without it. Around the sink it is always staged."""

    def stage() -> None:
        with batchsources.batch_sources(FRAME).session() as sources:
            sources.stage_checkpoint("erp", 7, b"at")

    def write(df: object, batch: int, txn: object) -> None:
        del df, batch, txn
        stage()

    ledger = DatabaseLedger(lambda: sqlite3.connect(tmp_path / "sink.db"))
    with pytest.raises(MisuseError, match="lost when its batch is replayed"):
        sinks.exactly_once(write, ledger)(FRAME, 0)
    stage()
    assert "sources" in run.notes


def test_a_failure_is_kept_as_one_line_without_passwords(run: Run) -> None:
    """Manifests are read by many."""

    def write(df: object, batch: int) -> None:
        del df, batch
        raise RuntimeError("jdbc:postgresql://bob:hunter2@db/x?password=s3cret refused\n  at java")

    with pytest.raises(RuntimeError):
        sinks.at_least_once(write)(FRAME, 0)
    kept = run.parts.sinks.notes(0)["sink"]["failed"]
    assert kept == "RuntimeError: jdbc:postgresql://bob:***@db/x?password=*** refused"


def test_a_defect_in_upkeep_does_not_end_upkeep() -> None:
    """Its thread serves every query of the driver."""
    said: list[str] = []
    done: list[int] = []
    background = Background()
    background.submit(said.append, lambda: 1 // 0)
    background.submit(said.append, lambda: done.append(1))
    background.close()
    assert done == [1]
    assert "ZeroDivisionError" in said[0]
