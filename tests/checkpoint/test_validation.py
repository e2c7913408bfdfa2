"""Validation: whatever makes a checkpoint useless is found, and nothing else condemns it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from holdfast.checkpoint import CheckpointStore, Issue, Severity, ValidationResult
from holdfast.errors import PermissionDeniedError, StoreError, UnavailableError
from holdfast.manifest import InFlightRecord, OperatorCheckpoint
from holdfast.testing import Fault, FaultyStore
from tests.checkpoint.support import KEYS, child, contents, manifest
from tests.formats.samples import SIDECAR, full_manifest

if TYPE_CHECKING:
    from holdfast.objectstore import ObjectStore

STATE = b"0123456789"


def messages(result: ValidationResult) -> str:
    return "; ".join(map(str, result.issues))


def test_a_good_checkpoint_has_no_issues(checkpoints: CheckpointStore) -> None:
    """Valid, and nothing to say about it."""
    state = {"agg": OperatorCheckpoint.at(2, 8), "small": OperatorCheckpoint.inline(b"x")}
    checkpoints.save_with_state(manifest(1, operator_states=state), STATE)
    assert checkpoints.validate_checkpoint(1) == ValidationResult(checkpoint_id=1)


def test_the_full_sample_is_valid(checkpoints: CheckpointStore) -> None:
    """All 22 fields set, and the state where they say."""
    sample = full_manifest()
    sample.parent_id, sample.is_incremental = None, False
    checkpoints.save_with_state(sample, SIDECAR)
    assert checkpoints.validate_checkpoint(1).issues == ()


def test_a_missing_checkpoint_is_invalid(checkpoints: CheckpointStore) -> None:
    """It does not raise: a walk goes on."""
    result = checkpoints.validate_checkpoint(9)
    assert not result.valid
    assert "not found" in messages(result)


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"\xff\xfe", b'{"version": 1}'])
def test_a_corrupt_manifest_is_invalid(
    checkpoints: CheckpointStore, store: ObjectStore, body: bytes
) -> None:
    """Whatever the damage, also text that is not UTF-8."""
    store.put(KEYS.manifest(1), body)
    result = checkpoints.validate_checkpoint(1)
    assert not result.valid
    assert "corrupt manifest" in messages(result)


def test_a_manifest_under_another_number_is_invalid(
    checkpoints: CheckpointStore, store: ObjectStore
) -> None:
    """The seed does not look at this: two objects swapped."""
    store.put(KEYS.manifest(1), manifest(2).encode())
    assert "another checkpoint" in messages(checkpoints.validate_checkpoint(1))
    assert not checkpoints.validate_checkpoint(1).valid


@pytest.mark.parametrize("number", [0, 1])
def test_a_zero_in_id_or_epoch_is_invalid(checkpoints: CheckpointStore, number: int) -> None:
    """Such a manifest is likely a damaged one."""
    checkpoints.save(manifest(number, epoch=0))
    result = checkpoints.validate_checkpoint(number)
    assert not result.valid
    assert "likely corrupted" in messages(result)


@pytest.mark.parametrize(
    "fields",
    [
        {"version": 0},
        {"is_incremental": True},
        {"sink_epochs": {"s": 1}, "sink_commit_statuses": {}, "source_names": ["x"]},
    ],
)
def test_what_only_looks_wrong_is_a_warning(
    checkpoints: CheckpointStore, fields: dict[str, Any]
) -> None:
    """The manifest's own findings do not make a checkpoint useless."""
    checkpoints.save(manifest(1, **fields))
    result = checkpoints.validate_checkpoint(1)
    assert result.valid
    assert all(issue.severity is Severity.WARNING for issue in result.issues)


def test_a_warning_says_so_by_its_type() -> None:
    """Severity is not read from the text, whatever the text says."""
    warning = Issue(Severity.WARNING, "checksum mismatch")
    fatal = Issue(Severity.FATAL, "manifest validation: harmless")
    assert ValidationResult(checkpoint_id=1, issues=(warning,)).valid
    assert not ValidationResult(checkpoint_id=1, issues=(warning, fatal)).valid


@pytest.mark.parametrize("damaged", [b"", b"0123456780", b"01234567890", b"012345678"])
def test_a_damaged_sidecar_is_invalid(
    checkpoints: CheckpointStore, store: ObjectStore, damaged: bytes
) -> None:
    """Flipped, cut off, longer or empty."""
    checkpoints.save_with_state(manifest(1), STATE)
    store.put(KEYS.state(1), damaged)
    result = checkpoints.validate_checkpoint(1)
    assert not result.valid
    assert "mismatch" in messages(result)


def test_a_missing_sidecar_is_invalid(checkpoints: CheckpointStore, store: ObjectStore) -> None:
    """A checksum without what it is of."""
    checkpoints.save_with_state(manifest(1), STATE)
    store.delete([KEYS.state(1)])
    result = checkpoints.validate_checkpoint(1)
    assert not result.valid
    assert "not there" in messages(result)


@pytest.mark.parametrize(("offset", "length"), [(0, 11), (10, 1), (2**64 - 1, 2**64 - 1)])
@pytest.mark.parametrize("with_checksum", [True, False])
def test_a_range_outside_the_sidecar_is_invalid(
    checkpoints: CheckpointStore,
    offset: int,
    length: int,
    with_checksum: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    """The seed does not look at this: an operator whose bytes are not there."""
    state = {"agg": OperatorCheckpoint.at(offset, length)}
    checkpoints.save_state_data(1, STATE)
    checkpoints.save_with_state(
        manifest(1, operator_states=state), STATE if with_checksum else None
    )
    result = checkpoints.validate_checkpoint(1)
    assert not result.valid
    assert "'agg' lies outside the sidecar" in messages(result)


@pytest.mark.parametrize(("offset", "length"), [(0, 10), (10, 0)])
def test_a_range_up_to_the_end_is_valid(
    checkpoints: CheckpointStore, offset: int, length: int
) -> None:
    """The last byte belongs to the sidecar."""
    state = {"agg": OperatorCheckpoint.at(offset, length)}
    checkpoints.save_with_state(manifest(1, operator_states=state), STATE)
    assert checkpoints.validate_checkpoint(1).valid


def test_external_state_without_a_sidecar_is_invalid(checkpoints: CheckpointStore) -> None:
    """Even where no checksum asks for one."""
    checkpoints.save(manifest(1, operator_states={"agg": OperatorCheckpoint.at(0, 1)}))
    assert not checkpoints.validate_checkpoint(1).valid


def test_external_state_without_a_checksum_is_a_warning(checkpoints: CheckpointStore) -> None:
    """It is there, but nothing proves that it is right."""
    checkpoints.save_state_data(1, STATE)
    checkpoints.save(manifest(1, operator_states={"agg": OperatorCheckpoint.at(0, 1)}))
    result = checkpoints.validate_checkpoint(1)
    assert result.valid
    assert "no checksum" in messages(result)


@pytest.mark.parametrize("text", ["QQ", "QR==", "?"])
def test_inline_state_that_does_not_decode_is_invalid(
    checkpoints: CheckpointStore, text: str
) -> None:
    """The seed would start that operator from scratch."""
    checkpoints.save(manifest(1, operator_states={"agg": OperatorCheckpoint(state_b64=text)}))
    result = checkpoints.validate_checkpoint(1)
    assert not result.valid
    assert "operator 'agg'" in messages(result)


def test_in_flight_data_that_does_not_decode_is_invalid(checkpoints: CheckpointStore) -> None:
    """Events that were under way must come back."""
    record = InFlightRecord(input_id=0, data_b64="?")
    checkpoints.save(manifest(1, inflight_data={"agg": [record]}))
    assert not checkpoints.validate_checkpoint(1).valid


def test_an_increment_needs_its_parents(checkpoints: CheckpointStore, store: ObjectStore) -> None:
    """A checkpoint whose grandparent is damaged cannot be restored, and says so."""
    checkpoints.save_with_state(manifest(1), STATE)
    checkpoints.save(child(2, 1))
    checkpoints.save(child(3, 2))
    assert checkpoints.validate_checkpoint(3).valid
    store.delete([KEYS.state(1)])
    result = checkpoints.validate_checkpoint(3)
    assert not result.valid
    assert "parent 1" in messages(result)


@pytest.mark.parametrize("parent", [2, 3, 2**64 - 1])
def test_a_parent_that_does_not_precede_is_invalid(
    checkpoints: CheckpointStore, parent: int
) -> None:
    """Also where a damaged manifest names itself: the walk ends."""
    checkpoints.save(child(2, parent))
    checkpoints.save(child(3, 2))
    assert not checkpoints.validate_checkpoint(2).valid
    assert not checkpoints.validate_checkpoint(3).valid


def test_a_parent_of_a_full_checkpoint_does_not_matter(checkpoints: CheckpointStore) -> None:
    """Only an increment builds on another."""
    checkpoints.save(manifest(2, parent_id=1))
    assert checkpoints.validate_checkpoint(2).valid


def test_every_flipped_byte_of_a_sidecar_is_found(
    checkpoints: CheckpointStore, store: ObjectStore
) -> None:
    """No damage to the state passes."""
    checkpoints.save_with_state(manifest(1), STATE)
    for position in range(len(STATE)):
        damaged = bytearray(STATE)
        damaged[position] ^= 1
        store.put(KEYS.state(1), damaged)
        assert not checkpoints.validate_checkpoint(1).valid


@pytest.mark.parametrize("key", ["*manifest-*", "*state-*"])
def test_an_unreadable_object_is_an_issue(store: ObjectStore, key: str) -> None:
    """A broken sector is about this checkpoint, so it is reported and not raised."""
    CheckpointStore(store, "q").save_with_state(manifest(1), STATE)
    broken = Fault(error=StoreError("the disk reports an error"), verb="get", key=key)
    result = CheckpointStore(FaultyStore(store, [broken]), "q").validate_checkpoint(1)
    assert not result.valid
    assert "the disk reports an error" in messages(result)


@pytest.mark.parametrize("error", [UnavailableError("down"), PermissionDeniedError("expired")])
@pytest.mark.parametrize("key", ["*manifest-*", "*state-*"])
def test_a_store_that_does_not_say_is_an_error(
    store: ObjectStore, error: Exception, key: str
) -> None:
    """Down or refusing access says nothing about the checkpoint."""
    CheckpointStore(store, "q").save_with_state(manifest(1), STATE)
    down = Fault(error=error, verb="get", key=key)
    with pytest.raises(type(error)):
        CheckpointStore(FaultyStore(store, [down]), "q").validate_checkpoint(1)


def test_validation_changes_nothing(checkpoints: CheckpointStore, store: ObjectStore) -> None:
    """It only reads."""
    checkpoints.save_with_state(manifest(1), STATE)
    before = contents(store)
    checkpoints.validate_checkpoint(1)
    assert contents(store) == before
