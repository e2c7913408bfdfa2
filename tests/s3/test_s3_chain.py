"""Chains, checkpoint stores and sessions on a real S3 server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from holdfast.checkpoint import CheckpointStore
from holdfast.layout import Keys
from holdfast.manifest import CheckpointManifest
from holdfast.objectstore import Meter, open_store
from holdfast.sessions import SourceCheckpoint, SourceCheckpoints
from tests.chain.processes import kill_again_and_again, later_fences_earlier
from tests.chain.support import QUERY, chain, damage, run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from holdfast.objectstore import ObjectStore

pytestmark = pytest.mark.s3
KEYS = Keys.of_query(QUERY)


def test_drivers_killed_again_and_again_lose_nothing(
    s3_url: Callable[..., str], tmp_path: Path
) -> None:
    """Real processes, SIGKILL at random moments."""
    kill_again_and_again(s3_url(), tmp_path / "sink", kills=8, seconds_max=0.6)


def test_the_later_driver_fences_the_earlier(s3_url: Callable[..., str], tmp_path: Path) -> None:
    """By conditional writes alone."""
    later_fences_earlier(s3_url(), tmp_path / "sink")


def test_a_batch_costs_two_requests(s3_url: Callable[..., str]) -> None:
    """An intent and a manifest, counted where they are sent."""
    meter = Meter()
    writer = chain(open_store(s3_url(), meter=meter)).claim()
    before = meter.usage()
    run(writer, 10)
    used = meter.usage() - before
    assert (used.requests["put"], used.total) == (20, 20)


def test_what_was_committed_is_recovered_and_validates(store: ObjectStore) -> None:
    """Inline and in packs, over full manifests, a tag, a rollback, a clone and retention."""
    writer = chain(store, inline_bytes_max=0, parallel=8).claim()
    run(writer, 12)
    chain(store).tag("kept", 5)
    writer.retain()
    writer.write_hint()
    clone = chain(store, inline_bytes_max=0).clone("kept", "copy")
    chain(store, inline_bytes_max=0).rollback("kept")
    again = chain(store, "two").claim(deep=True)
    run(again, 2)
    assert again.head.batch == 5
    assert clone.claim(deep=True).head.batch == 3
    assert all(chain(store).validate(c.number).valid for c in chain(store).history())


def test_a_corrupt_newest_checkpoint_is_walked_over(store: ObjectStore) -> None:
    """And the report says why."""
    run(chain(store).claim(), 3)
    damage(store, KEYS.manifest(4))
    assert chain(store).recover().report.chosen == 3


def test_a_checkpoint_store_keeps_its_word(store: ObjectStore) -> None:
    """Create-only manifests, sidecars with checksums, pruning."""
    checkpoints = CheckpointStore(store, "q", max_retained=2)
    for number in range(1, 5):
        checkpoints.save_with_state(CheckpointManifest.new(number, number), b"state")
    assert checkpoints.list_ids() == [3, 4]
    assert checkpoints.recover_latest_validated().chosen_id == 4


def test_a_session_is_committed_whole(store: ObjectStore) -> None:
    """And read by another instance."""
    first = SourceCheckpoints(store, "q")
    with first.session():
        first.stage_checkpoint("a", 7, b"position")
        assert first.read_checkpoint("a") is None
    assert SourceCheckpoints(store, "q").read_checkpoint("a") == SourceCheckpoint(7, b"position")
