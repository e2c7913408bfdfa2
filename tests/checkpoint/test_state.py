"""Sidecars: durable before their manifest, checked by it, never overwritten."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest

from holdfast.checkpoint import CheckpointStore
from holdfast.errors import AlreadyExistsError, UnavailableError
from holdfast.testing import Fault, FaultyStore
from tests.checkpoint.support import KEYS, contents, manifest, names, put_flat

if TYPE_CHECKING:
    from holdfast.objectstore import ObjectStore

STATE = b"operator state"


def test_a_sidecar_is_loaded(checkpoints: CheckpointStore) -> None:
    """With or without a manifest of its id."""
    checkpoints.save_state_data(1, STATE)
    assert checkpoints.load_state_data(1) == STATE
    assert checkpoints.load_state_data(2) is None


def test_saving_with_state_records_its_checksum(
    checkpoints: CheckpointStore, store: ObjectStore
) -> None:
    """The stored manifest has the SHA-256 of the sidecar."""
    checkpoints.save_with_state(manifest(1), STATE)
    stored = checkpoints.load_by_id(1)
    assert stored is not None
    assert stored.state_checksum == hashlib.sha256(STATE).hexdigest()
    assert store.get(KEYS.state(1)).body == STATE


def test_the_callers_manifest_is_not_changed(checkpoints: CheckpointStore) -> None:
    """Saving works on a copy."""
    mine = manifest(1)
    checkpoints.save_with_state(mine, STATE)
    assert mine == manifest(1)


def test_without_state_it_is_a_plain_save(checkpoints: CheckpointStore, store: ObjectStore) -> None:
    """No sidecar, and a checksum that the argument brings is kept."""
    checkpoints.save_with_state(manifest(1, state_checksum="ab"), None)
    assert checkpoints.load_by_id(1) == manifest(1, state_checksum="ab")
    assert "checkpoints/state-000001.bin" not in names(store)


def test_empty_state_is_a_state(checkpoints: CheckpointStore) -> None:
    """No bytes are written, and checked, like any others."""
    checkpoints.save_with_state(manifest(1), b"")
    assert checkpoints.load_state_data(1) == b""
    assert checkpoints.validate_checkpoint(1).valid


def test_a_failed_sidecar_means_no_checkpoint(store: ObjectStore) -> None:
    """The manifest is never written before what it names."""
    broken = Fault(error=UnavailableError("down"), verb="put", key="*state-*")
    with pytest.raises(UnavailableError):
        CheckpointStore(FaultyStore(store, [broken]), "q").save_with_state(manifest(1), STATE)
    assert contents(store) == {}


def test_saving_the_same_with_state_again_is_success(
    checkpoints: CheckpointStore, store: ObjectStore
) -> None:
    """Identical manifest, identical sidecar: nothing changes."""
    checkpoints.save_with_state(manifest(1), STATE)
    before = contents(store)
    checkpoints.save_with_state(manifest(1), STATE)
    assert contents(store) == before


@pytest.mark.parametrize("other", [b"operator STATE", b"longer operator state", b""])
def test_a_sidecar_is_never_overwritten(
    checkpoints: CheckpointStore, store: ObjectStore, other: bytes
) -> None:
    """A retry under the same id cannot put new state under an old manifest."""
    checkpoints.save_with_state(manifest(1), STATE)
    before = contents(store)
    with pytest.raises(AlreadyExistsError, match="greater id"):
        checkpoints.save_with_state(manifest(1, epoch=2), other)
    assert contents(store) == before
    assert checkpoints.validate_checkpoint(1).valid


def test_an_id_with_an_unfinished_attempt_is_left_behind(checkpoints: CheckpointStore) -> None:
    """The writer goes on with the next id, and that works."""
    checkpoints.save_state_data(1, b"of an attempt that died")
    with pytest.raises(AlreadyExistsError):
        checkpoints.save_with_state(manifest(1), STATE)
    checkpoints.save_with_state(manifest(2), STATE)
    assert checkpoints.recover_latest_validated().chosen_id == 2


def test_a_flat_sidecar_is_checked_too(checkpoints: CheckpointStore, store: ObjectStore) -> None:
    """An old checkpoint with a checksum is valid with its old sidecar."""
    put_flat(store, 1, STATE)
    digest = hashlib.sha256(STATE).hexdigest()
    store.put(KEYS.v1_manifest(1), manifest(1, state_checksum=digest).encode())
    assert checkpoints.validate_checkpoint(1).valid
    store.put(KEYS.v1_state(1), b"damaged")
    assert not checkpoints.validate_checkpoint(1).valid
