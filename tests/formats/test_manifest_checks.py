"""What a manifest says of itself: `validate()`, and the state it carries."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import CorruptionError
from holdfast.manifest import (
    CheckpointManifest,
    ConnectorCheckpoint,
    InFlightRecord,
    OperatorCheckpoint,
    SinkCommitStatus,
)

COMMITTED = SinkCommitStatus.committed()
CONNECTOR = ConnectorCheckpoint.new(1)
GOOD = CheckpointManifest(checkpoint_id=1, epoch=1, timestamp_ms=1)

MATRIX: list[tuple[dict[str, Any], list[str]]] = [
    ({}, []),
    ({"version": 0}, ["manifest version is 0"]),
    ({"checkpoint_id": 0}, ["manifest checkpoint_id is 0"]),
    ({"epoch": 0}, ["manifest epoch is 0"]),
    ({"timestamp_ms": 0}, ["manifest timestamp_ms is 0"]),
    ({"sink_epochs": {"s": 1}}, []),
    (
        {"sink_epochs": {"s": 1, "t": 1}, "sink_commit_statuses": {"s": COMMITTED}},
        ["sink 't' has epoch but no commit status"],
    ),
    ({"sink_commit_statuses": {"s": COMMITTED}}, []),
    ({"source_offsets": {"a": CONNECTOR}}, []),
    ({"source_offsets": {"a": CONNECTOR}, "source_names": ["a", "b"]}, []),
    (
        {"source_offsets": {"a": CONNECTOR}, "source_names": ["b"]},
        ["source_offsets contains 'a' not in source_names"],
    ),
    ({"source_names": ["b", "a"], "sink_names": ["z"]}, []),
    ({"is_incremental": True}, ["incremental checkpoint has no parent_id"]),
    ({"is_incremental": True, "parent_id": 0}, []),
    ({"parent_id": 9}, []),
    ({"source_watermarks": {"x": 1}, "source_names": ["y"]}, []),
    ({"state_checksum": "not hex"}, []),
]


@pytest.mark.parametrize(("changed", "messages"), MATRIX)
def test_validate_finds_exactly_these(changed: dict[str, Any], messages: list[str]) -> None:
    """Each check of the seed fires where it should, and nothing else does."""
    assert [str(error) for error in replace(GOOD, **changed).validate()] == messages


def test_findings_come_in_a_fixed_order() -> None:
    """Version, id, epoch, time, sinks, sources, parent."""
    manifest = replace(
        GOOD,
        version=0,
        checkpoint_id=0,
        epoch=0,
        timestamp_ms=0,
        sink_epochs={"s": 1},
        sink_commit_statuses={"t": COMMITTED},
        source_offsets={"a": CONNECTOR},
        source_names=["b"],
        is_incremental=True,
    )
    found = [error.message.split()[0:2] for error in manifest.validate()]
    assert [words[1] for words in found[:4]] == [
        "version",
        "checkpoint_id",
        "epoch",
        "timestamp_ms",
    ]
    assert [words[0] for words in found[4:]] == ["sink", "source_offsets", "incremental"]


@given(st.binary(max_size=200))
def test_inline_state_comes_back(data: bytes) -> None:
    """Any bytes, also none at all, which is not the same as no state."""
    assert OperatorCheckpoint.inline(data).decode_inline() == data
    assert OperatorCheckpoint().decode_inline() is None


@pytest.mark.parametrize(
    "text", ["QQ", "QQ=", "QQ===", "Q Q=", "QR==", "QUJ=", "-_==", "é", "QQ==QQ=="]
)
def test_text_that_the_seeds_reader_refuses_is_corrupt(text: str) -> None:
    """Standard alphabet, padded, no spare bits: anything else would start an operator afresh."""
    with pytest.raises(CorruptionError, match="base64"):
        OperatorCheckpoint(state_b64=text).decode_inline()
    with pytest.raises(CorruptionError, match="base64"):
        InFlightRecord(input_id=0, data_b64=text).decode()


@pytest.mark.parametrize(("size", "inline"), [(0, True), (4, True), (5, False)])
def test_state_above_the_threshold_goes_to_the_sidecar(size: int, inline: bool) -> None:  # noqa: FBT001 - a parameter of the test
    """Up to the threshold it is inline, above it is a range and bytes to put there."""
    state, blob = OperatorCheckpoint.from_bytes(bytes(size), threshold=4, offset=100)
    assert (blob is None) == inline
    assert state.external == (not inline)
    assert inline or (state.external_offset, state.external_length, blob) == (100, 5, bytes(5))


def test_a_connectors_offsets_are_copied() -> None:
    """Changing the caller's dictionary later does not change the checkpoint."""
    offsets = {"0": "1"}
    checkpoint = ConnectorCheckpoint.with_offsets(3, offsets)
    offsets["0"] = "2"
    assert (checkpoint.epoch, checkpoint.offsets) == (3, {"0": "1"})
