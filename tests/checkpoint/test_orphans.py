"""Orphans: sidecars that no manifest needs go, those of a save under way stay."""

from __future__ import annotations

import time

import pytest

from holdfast.checkpoint import CheckpointStore
from holdfast.errors import AlreadyExistsError, ConfigError, DeleteError, UnavailableError
from holdfast.objectstore import MemoryStore, ObjectStore, Page
from holdfast.settings import LIST_PAGE_MAX
from holdfast.testing import Fault, FaultyStore, ManualClock
from tests.checkpoint.support import KEYS, Meanwhile, contents, manifest, names, put_flat

HOUR_S = 3600.0


def test_an_old_sidecar_without_a_manifest_goes(
    checkpoints: CheckpointStore, store: ObjectStore, clock: ManualClock
) -> None:
    """What a killed save left is removed, and counted."""
    checkpoints.save_state_data(1, b"x")
    checkpoints.save_state_data(2, b"x")
    clock.sleep(HOUR_S + 60)
    assert checkpoints.cleanup_orphans() == 2
    assert names(store) == set()


def test_a_young_one_stays(
    checkpoints: CheckpointStore, store: ObjectStore, clock: ManualClock
) -> None:
    """It may belong to a save that has not come to its manifest."""
    checkpoints.save_state_data(1, b"x")
    clock.sleep(HOUR_S - 60)
    assert checkpoints.cleanup_orphans() == 0
    assert names(store) == {"checkpoints/state-000001.bin"}


def test_the_grace_period_can_be_chosen(checkpoints: CheckpointStore, clock: ManualClock) -> None:
    """In seconds, and never below zero."""
    checkpoints.save_state_data(1, b"x")
    clock.sleep(10)
    assert checkpoints.cleanup_orphans(grace_s=60) == 0
    assert checkpoints.cleanup_orphans(grace_s=5) == 1
    with pytest.raises(ConfigError):
        checkpoints.cleanup_orphans(grace_s=-1)


def test_what_a_manifest_needs_stays(
    checkpoints: CheckpointStore, store: ObjectStore, clock: ManualClock
) -> None:
    """However old, in either layout, also where the manifest itself is damaged."""
    checkpoints.save_with_state(manifest(3), b"state")
    checkpoints.save_with_state(manifest(4), b"state")
    put_flat(store, 1, b"state")
    store.put(KEYS.manifest(4), b"{")
    before = contents(store)
    clock.sleep(100 * HOUR_S)
    assert checkpoints.cleanup_orphans() == 0
    assert contents(store) == before


def test_flat_orphans_go_too(
    checkpoints: CheckpointStore, store: ObjectStore, clock: ManualClock
) -> None:
    """The seed leaves those for ever."""
    store.put(KEYS.v1_state(1), b"x")
    clock.sleep(2 * HOUR_S)
    assert checkpoints.cleanup_orphans() == 1
    assert names(store) == set()


def test_batches_and_strangers_stay(
    checkpoints: CheckpointStore, store: ObjectStore, clock: ManualClock
) -> None:
    """Only sidecars are anyone's to clean up here."""
    for name in ("batch-000001.lz4", "state-1.bin", "state-000001.bin.bak", "files/000001/x"):
        store.put(f"q/checkpoints/{name}", b"x")
    before = contents(store)
    clock.sleep(100 * HOUR_S)
    assert checkpoints.cleanup_orphans() == 0
    assert contents(store) == before


def test_a_save_that_ends_meanwhile_keeps_its_sidecar(clock: ManualClock) -> None:
    """Its manifest appears after the sidecars were listed, and is still seen."""

    class SaveEnds(MemoryStore):
        armed = False

        def list(
            self, prefix: str = "", *, start_after: str = "", limit: int = LIST_PAGE_MAX
        ) -> Page:
            page = super().list(prefix, start_after=start_after, limit=limit)
            if self.armed and prefix == KEYS.checkpoints:
                self.put(KEYS.manifest(1), manifest(1).encode())
            return page

    store = SaveEnds(clock=clock)
    checkpoints = CheckpointStore(store, "q", clock=clock)
    checkpoints.save_state_data(1, b"x")
    clock.sleep(2 * HOUR_S)
    store.armed = True
    assert checkpoints.cleanup_orphans() == 0
    assert checkpoints.load_state_data(1) == b"x"


def test_an_old_sidecar_of_an_earlier_attempt_is_not_used() -> None:
    """A cleanup may have listed it as an orphan, and delete it after the manifest is created."""
    clock, store = ManualClock(), Meanwhile()
    store.put(KEYS.state(1), b"state")
    clock.sleep(time.time() - clock.now_ms() / 1000 + 2 * HOUR_S)
    checkpoints = CheckpointStore(store, "q", clock=clock)
    with pytest.raises(AlreadyExistsError, match="use a greater id"):
        checkpoints.save_with_state(manifest(1), b"state")
    assert checkpoints.list_ids() == []
    checkpoints.save_with_state(manifest(2), b"state")
    assert checkpoints.validate_checkpoint(2).valid


def test_saving_an_old_checkpoint_again_is_success(clock: ManualClock) -> None:
    """Its sidecar is old, and no orphan: its manifest is there."""
    store = MemoryStore(clock=clock)
    checkpoints = CheckpointStore(store, "q", clock=clock)
    checkpoints.save_with_state(manifest(1), b"state")
    clock.sleep(2 * HOUR_S)
    checkpoints.save_with_state(manifest(1), b"state")
    assert checkpoints.cleanup_orphans() == 0
    assert checkpoints.validate_checkpoint(1).valid


def test_an_object_without_a_time_stays(clock: ManualClock) -> None:
    """A store that does not say how old something is gives no reason to delete it."""
    store = MemoryStore(clock=ManualClock(now_ms=0))
    checkpoints = CheckpointStore(store, "q", clock=clock)
    checkpoints.save_state_data(1, b"x")
    assert checkpoints.cleanup_orphans() == 0


@pytest.mark.parametrize("error", [UnavailableError("down"), DeleteError({"k": "held"})])
def test_a_failure_is_raised(store: ObjectStore, clock: ManualClock, error: Exception) -> None:
    """What is left is not passed over in silence."""
    CheckpointStore(store, "q").save_state_data(1, b"x")
    clock.sleep(2 * HOUR_S)
    broken = FaultyStore(store, [Fault(error=error, verb="delete")])
    with pytest.raises(type(error)):
        CheckpointStore(broken, "q", clock=clock).cleanup_orphans()
