"""The distributed manifest's JSON: nine fields, unknown ones kept, wrong ones named."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import orjson
import pytest

from holdfast.errors import ConfigError, CorruptionError
from holdfast.ids import CheckpointId
from holdfast.manifest import CheckpointManifestV2
from holdfast.testing import ManualClock
from tests.formats.samples import full_distributed


def document() -> dict[str, Any]:
    decoded: dict[str, Any] = orjson.loads(full_distributed().encode())
    return decoded


@pytest.mark.parametrize("pretty", [False, True])
def test_every_field_comes_back(pretty: bool) -> None:  # noqa: FBT001 - a parameter of the test
    """What is written is read, at the edges of each range."""
    assert (
        CheckpointManifestV2.decode(full_distributed().encode(pretty=pretty)) == full_distributed()
    )


def test_there_are_nine_fields() -> None:
    """The seed's fields, and beside them only what is unknown."""
    assert len(fields(CheckpointManifestV2)) == 9 + 1
    assert len(document()) == 9


def test_a_new_manifest_is_stamped() -> None:
    """`new` has version 2, the given id and epoch, and the clock's time."""
    checkpoint = CheckpointId.now()
    manifest = CheckpointManifestV2.new(checkpoint, 4, clock=ManualClock(now_ms=5))
    assert (manifest.version, manifest.epoch, manifest.timestamp_ms) == (2, 4, 5)
    assert manifest.checkpoint_id == checkpoint


def test_four_fields_are_enough() -> None:
    """All others have defaults."""
    short = {
        name: document()[name] for name in ("version", "checkpoint_id", "epoch", "timestamp_ms")
    }
    manifest = CheckpointManifestV2.decode(orjson.dumps(short))
    assert (manifest.operators, manifest.source_offsets, manifest.parent_id) == ({}, {}, None)


def test_unknown_fields_are_kept_at_every_level() -> None:
    """What a newer version wrote survives being rewritten by this one."""
    newer = document()
    newer["newer"] = {"x": 1}
    newer["operators"]["agg"]["codec"] = "zstd"
    newer["operators"]["agg"]["partitions"][0]["region"] = "eu"
    newer["source_offsets"]["trades"]["lag"] = 3
    assert orjson.loads(CheckpointManifestV2.decode(orjson.dumps(newer)).encode()) == newer


WRONG: list[tuple[Any, tuple[str | int, ...], str]] = [
    ("x", ("checkpoint_id",), "checkpoint_id"),
    ("0190B6D5-3B7C-7DEF-8123-456789ABCDEF", ("checkpoint_id",), "checkpoint_id"),
    (1, ("checkpoint_id",), "checkpoint_id"),
    ("x", ("parent_id",), "parent_id"),
    (-1, ("epoch",), "epoch"),
    (2**63, ("watermark",), "watermark"),
    ({}, ("operators", "agg", "partitions"), "partitions"),
    (2**32, ("operators", "agg", "partitions", 0, "partition_id"), "partition_id"),
    (0, ("operators", "agg", "partitions", 0, "is_delta"), "is_delta"),
    (None, ("operators", "agg", "partitions", 0, "path"), "path"),
    ("1", ("operators", "agg", "partitions", 0, "size_bytes"), "size_bytes"),
    (1, ("operators", "agg", "partitions", 0, "sha256"), "sha256"),
    (-1, ("operators", "agg", "total_bytes"), "total_bytes"),
    (None, ("source_offsets", "trades", "source_type"), "source_type"),
    ({"0": 1}, ("source_offsets", "trades", "offsets"), "offsets"),
    (None, ("source_offsets", "trades", "epoch"), "epoch"),
]


@pytest.mark.parametrize(("value", "path", "named"), WRONG)
def test_a_wrong_type_names_its_field(value: Any, path: tuple[str | int, ...], named: str) -> None:
    """Any wrong value is a CorruptionError that says where it is."""
    changed = document()
    place: Any = changed
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = value
    with pytest.raises(CorruptionError, match=named):
        CheckpointManifestV2.decode(orjson.dumps(changed))


@pytest.mark.parametrize(
    "path", [("operators", "agg", "partitions"), ("source_offsets", "trades", "epoch")]
)
def test_a_required_field_that_is_missing_is_named(path: tuple[str, ...]) -> None:
    """Without it the bytes are no manifest."""
    changed = document()
    del changed[path[0]][path[1]][path[2]]
    with pytest.raises(CorruptionError, match=f"lacks a field.*{path[2]}"):
        CheckpointManifestV2.decode(orjson.dumps(changed))


def test_what_could_not_be_read_is_not_written() -> None:
    """The check before writing is the one of reading."""
    with pytest.raises(ConfigError):
        replace(full_distributed(), epoch=-1).encode()
