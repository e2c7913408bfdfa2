"""A store with one of everything, and the command line run on it."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson
from typer.testing import CliRunner

from holdfast.checkpoint import CheckpointStore
from holdfast.cli.app import app
from holdfast.layout import Keys
from holdfast.manifest import (
    CheckpointManifest,
    ConnectorCheckpoint,
    OperatorCheckpoint,
    SinkCommitStatus,
)
from holdfast.manifest.facts import Facts
from holdfast.objectstore import LocalStore, ObjectStore
from holdfast.testing import ManualClock
from tests.chain.support import chain, damage, file, plan, results, run
from tests.trust import trust

if TYPE_CHECKING:
    from pathlib import Path

NOW_MS = 1_700_000_000_000
FACTS = Facts(
    source_offsets={"kafka": ConnectorCheckpoint.with_offsets(6, {"orders-0": "4711"})},
    sink_epochs={"db": 6},
    sink_commit_statuses={"db": SinkCommitStatus.failed("deadlock")},
    sink_names=("db",),
    source_names=("kafka",),
    watermark=NOW_MS,
    pipeline_hash=255,
)


@dataclass(frozen=True)
class Ran:
    """What a command line came to."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        return orjson.loads(self.out)


def holdfast(*args: str, **environment: str) -> Ran:
    """Run a command in this process."""
    env = {"COLUMNS": "", "HOLDFAST_STORE": "", **environment}
    found = CliRunner().invoke(app, list(args), env=env, catch_exceptions=False)
    return Ran(found.exit_code, found.stdout, found.stderr)


def process(*args: str, **environment: str) -> Ran:
    """Run a command in a process of its own, with no terminal."""
    # A test runner may say how wide its own terminal is.
    inherited = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    found = subprocess.run(
        [sys.executable, "-m", "holdfast.cli", *args],
        capture_output=True,
        text=True,
        check=False,
        env={**inherited, **environment},
        timeout=60,
    )
    return Ran(found.returncode, found.stdout, found.stderr)


def build(root: Path) -> None:
    """Chains whole, damaged, removed and cloned, and plain checkpoint stores of both layouts."""
    store = LocalStore(root)
    build_orders(store)
    chain(store).clone(5, "copy of orders")
    run(chain(store, "two", "eu/clicks").claim(), 4)
    for number in (4, 5):
        damage(store, Keys.of_query("eu/clicks").manifest(number))
    run(chain(store, query="gone").claim(), 1)
    chain(store, query="gone").remove()
    build_plain(store, "plain")
    build_flat(store, "flat/")
    certify(root)


def build_orders(store: ObjectStore) -> None:
    """Checkpoints 1 to 7, batch 5 the newest, batch 6 planned; a pack in 4, a tag on 3."""
    writer = chain(store, inline_bytes_max=200).claim()
    for batch in range(6):
        writer.intent(batch, plan(batch))
        large = [file("state/0/large", bytes(range(256)) * 8)] if batch == 2 else []
        writer.commit(batch, [*results(batch), *large], facts=FACTS if batch == 5 else None)
    chain(store).tag("v1", 3)
    writer.intent(6, plan(6))


def build_plain(store: ObjectStore, prefix: str) -> None:
    """Checkpoints 1 to 4 as the seed's crate lays them out, and a sidecar that nothing needs."""
    checkpoints = CheckpointStore(store, prefix, clock=ManualClock())
    for number in range(1, 5):
        manifest = CheckpointManifest(checkpoint_id=number, epoch=number, timestamp_ms=NOW_MS)
        manifest.operator_states["window"] = OperatorCheckpoint.at(2, 3)
        manifest.operator_states["filter"] = OperatorCheckpoint.inline(b"small")
        checkpoints.save_with_state(manifest, b"state %d" % number)
    old = LocalStore(store.root, clock=ManualClock()) if isinstance(store, LocalStore) else store
    old.put(Keys.under(prefix).state(9), b"left by a crash")


def build_flat(store: ObjectStore, prefix: str) -> None:
    """Checkpoints 1 and 2 in the flat layout, written by hand."""
    keys = Keys(prefix)
    for number in (1, 2):
        manifest = CheckpointManifest(checkpoint_id=number, epoch=number, timestamp_ms=NOW_MS)
        store.put(keys.v1_state(number), b"flat")
        store.put(keys.v1_manifest(number), manifest.encode(pretty=True))
    store.put(keys.v1_latest, b"checkpoint_000002")


def certify(root: Path) -> None:
    trust(LocalStore(root), when_ms=NOW_MS)


def contents(root: Path) -> dict[str, bytes]:
    """Every object, but nothing of the local store's own."""
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and ".holdfast-local" not in path.parts
    }
