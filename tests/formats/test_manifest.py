"""The manifest's JSON: 22 fields exactly, unknown ones kept, wrong ones named."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import ConfigError, CorruptionError
from holdfast.manifest import CheckpointManifest, OperatorCheckpoint, SinkCommitStatus
from holdfast.settings import U64_MAX
from holdfast.testing import ManualClock
from tests.formats.samples import full_manifest

EMPTY: dict[str, Any] = {"version": 1, "checkpoint_id": 1, "epoch": 1, "timestamp_ms": 1}


def decode(document: dict[str, Any]) -> CheckpointManifest:
    return CheckpointManifest.decode(orjson.dumps(document))


def nested(value: Any, *path: str) -> dict[str, Any]:
    """The full manifest's JSON with one value deep inside replaced."""
    document: dict[str, Any] = orjson.loads(full_manifest().encode())
    place = document
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = value
    return document


def test_there_are_22_fields() -> None:
    """The seed's fields, and beside them only what is unknown."""
    assert len(fields(CheckpointManifest)) == 22 + 1
    assert len(CheckpointManifest.new(1, 1).to_json()) == 22


def test_the_sample_sets_every_field() -> None:
    """No field of the sample has its default, so no round trip is empty."""
    sample, empty = full_manifest(), CheckpointManifest.new(2, 2)
    same = [f.name for f in fields(sample) if getattr(sample, f.name) == getattr(empty, f.name)]
    assert same == ["version", "extra"]


@pytest.mark.parametrize("pretty", [False, True])
def test_every_field_comes_back(pretty: bool) -> None:  # noqa: FBT001 - a parameter of the test
    """What is written is read, at the edges of each range."""
    assert CheckpointManifest.decode(full_manifest().encode(pretty=pretty)) == full_manifest()


@given(st.integers(min_value=2**53 - 1, max_value=U64_MAX))
def test_numbers_are_exact(number: int) -> None:
    """No value up to 2^64-1 goes through a floating-point number."""
    manifest = CheckpointManifest.new(number, number)
    manifest.pipeline_hash = number
    assert CheckpointManifest.decode(manifest.encode()) == manifest


def test_a_new_manifest_is_stamped() -> None:
    """`new` takes the time from the clock it is given."""
    manifest = CheckpointManifest.new(3, 4, clock=ManualClock(now_ms=5))
    assert (manifest.checkpoint_id, manifest.epoch, manifest.timestamp_ms) == (3, 4, 5)
    assert manifest.version == 1


def test_four_fields_are_enough() -> None:
    """All others have defaults."""
    assert decode(EMPTY) == CheckpointManifest(checkpoint_id=1, epoch=1, timestamp_ms=1)


@pytest.mark.parametrize("name", EMPTY)
def test_a_required_field_that_is_missing_is_named(name: str) -> None:
    """Without it the bytes are no manifest."""
    with pytest.raises(CorruptionError, match=f"lacks a field.*{name}"):
        decode({key: value for key, value in EMPTY.items() if key != name})


def test_unknown_fields_are_kept_at_every_level() -> None:
    """What a newer version wrote survives being rewritten by this one."""
    document = nested({"deep": [1, {"x": None}]}, "newer")
    document["source_offsets"]["source"]["lag"] = U64_MAX
    document["operator_states"]["inline"]["codec"] = "zstd"
    document["inflight_data"]["inline"][0]["at"] = 7
    assert orjson.loads(decode(document).encode()) == document


def test_an_unknown_field_cannot_replace_a_known_one() -> None:
    """`extra` adds to the 22 fields and never overrides them."""
    manifest = CheckpointManifest.new(1, 5)
    manifest.extra = {"epoch": 99, "newer": 1}
    assert orjson.loads(manifest.encode())["epoch"] == 5


def test_maps_are_written_in_order() -> None:
    """The same manifest always gives the same bytes, however it was built."""
    forward, backward = CheckpointManifest.new(1, 1), CheckpointManifest.new(1, 1)
    backward.timestamp_ms = forward.timestamp_ms
    for name in ("a", "b", "c"):
        forward.sink_epochs[name] = 1
    for name in ("c", "b", "a"):
        backward.sink_epochs[name] = 1
    assert forward.encode() == backward.encode()


WRONG: dict[tuple[str, ...], list[Any]] = {
    **{(name,): ["1", -1, 1.0, True, None, U64_MAX + 1] for name in EMPTY},
    ("wal_position",): [-1, None, "0"],
    ("size_bytes",): [-1, 0.5],
    ("per_core_wal_positions",): [[-1], [True], ["0"], {}, [U64_MAX + 1]],
    ("pipeline_hash",): [-1, "0", U64_MAX + 1],
    ("parent_id",): [-1, "0"],
    ("watermark",): [2**63, -(2**63) - 1, "0"],
    ("is_incremental",): [0, "true", None],
    ("table_store_checkpoint_path",): [0, []],
    ("state_checksum",): [0, {}],
    ("source_names",): ["a", [1], None],
    ("sink_names",): [{}, [None]],
    ("source_offsets",): [[], None, {"source": 1}],
    ("source_offsets", "source", "offsets"): [None, {"0": 1}],
    ("source_offsets", "source", "epoch"): [-1, None],
    ("table_offsets", "table", "metadata"): [None, {"topic": 1}],
    ("sink_epochs",): [{"sink": -1}, {"sink": "1"}, {"sink": U64_MAX + 1}],
    ("source_watermarks",): [{"source": 2**63}, {"source": "1"}],
    ("sink_commit_statuses", "sink"): ["pending", None, {"Failed": 1}, {"Failed": "", "y": 1}],
    ("sink_commit_statuses", "other"): [{"Pending": ""}, [], ["Failed"]],
    ("operator_states", "inline", "state_b64"): [1, []],
    ("operator_states", "inline", "external"): [1, None],
    ("operator_states", "external", "external_offset"): [-1],
    ("operator_states", "external", "external_length"): [U64_MAX + 1],
    ("inflight_data",): [{"inline": {}}, {"inline": [1]}],
    ("inflight_data", "inline"): [[{"input_id": 1}], [{"input_id": -1, "data_b64": ""}]],
}


@pytest.mark.parametrize(
    ("path", "value"), [(path, value) for path, values in WRONG.items() for value in values]
)
def test_a_wrong_type_names_its_field(path: tuple[str, ...], value: Any) -> None:
    """Any wrong value is a CorruptionError that says where it is."""
    data = json.dumps(nested(value, *path)).encode()  # orjson writes no number beyond 64 bits
    with pytest.raises(CorruptionError) as caught:
        CheckpointManifest.decode(data)
    assert path[-1] in str(caught.value)


@pytest.mark.parametrize("data", [b"", b"[]", b"null", b"{", b"\xff", b'{"version": NaN}'])
def test_what_is_not_a_json_object_is_corrupt(data: bytes) -> None:
    """Damaged text is an error of the data, never of the caller."""
    with pytest.raises(CorruptionError):
        CheckpointManifest.decode(data)


def test_every_truncation_is_found() -> None:
    """A manifest that ends early is corrupt, wherever it ends."""
    data = full_manifest().encode()
    for length in range(len(data)):
        with pytest.raises(CorruptionError):
            CheckpointManifest.decode(data[:length])


@pytest.mark.parametrize(
    "changed",
    [
        {"epoch": -1},
        {"checkpoint_id": U64_MAX + 1},
        {"version": 2**32},
        {"per_core_wal_positions": [-1]},
        {"watermark": 2**63},
        {"source_names": [1]},
        {"table_store_checkpoint_path": "\ud800"},
        {"extra": {"holdfast": {1, 2}}},
        {"extra": {"holdfast": 2**64}},
        {"sink_epochs": {"sink": -1}},
        {"operator_states": {"agg": OperatorCheckpoint.at(-1, 5)}},
    ],
    ids=str,
)
def test_what_could_not_be_read_is_not_written(changed: dict[str, Any]) -> None:
    """The check before writing is the one of reading."""
    with pytest.raises(ConfigError):
        replace(full_manifest(), **changed).encode()


@pytest.mark.parametrize(
    ("status", "text"),
    [
        (SinkCommitStatus.pending(), "Pending"),
        (SinkCommitStatus.committed(), "Committed"),
        (SinkCommitStatus.failed("why"), {"Failed": "why"}),
        (SinkCommitStatus.failed(""), {"Failed": ""}),
    ],
)
def test_a_sinks_status_is_the_seeds_json(status: SinkCommitStatus, text: Any) -> None:
    """Two words, or an object with the message of the failure."""
    assert status.to_json() == text
    assert SinkCommitStatus.from_json(text, "status") == status
