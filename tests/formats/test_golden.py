"""Bytes of every format version, kept for ever: a change that breaks one of these breaks users."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from holdfast.manifest import CheckpointManifest, CheckpointManifestV2
from tests.formats.samples import full_distributed, full_manifest

GOLDEN = Path(__file__).parent.parent / "golden"


def read(name: str) -> bytes:
    return (GOLDEN / name).read_bytes()


def test_our_manifest_is_written_as_ever() -> None:
    """The same manifest gives the very bytes that the first version wrote."""
    assert full_manifest().encode(pretty=True) == read("manifest-v1-holdfast.json")


def test_our_manifest_is_read_as_ever() -> None:
    """The very bytes that the first version wrote mean the same manifest."""
    assert CheckpointManifest.decode(read("manifest-v1-holdfast.json")) == full_manifest()


def test_our_distributed_manifest_is_written_as_ever() -> None:
    """The same manifest gives the very bytes that the first version wrote."""
    assert full_distributed().encode(pretty=True) == read("manifest-v2-holdfast.json")


def test_our_distributed_manifest_is_read_as_ever() -> None:
    """The very bytes that the first version wrote mean the same manifest."""
    assert CheckpointManifestV2.decode(read("manifest-v2-holdfast.json")) == full_distributed()


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("manifest-v1-crate.json", CheckpointManifest),
        ("manifest-v2-crate.json", CheckpointManifestV2),
    ],
)
def test_the_crates_manifest_loses_nothing(
    name: str, kind: type[CheckpointManifest | CheckpointManifestV2]
) -> None:
    """What laminar-storage 0.18.5 wrote is read, and written back with the same values."""
    assert orjson.loads(kind.decode(read(name)).encode()) == orjson.loads(read(name))


def test_the_crates_manifest_has_all_22_fields() -> None:
    """The sample is as complete as the type."""
    known = set(CheckpointManifest.new(1, 1).to_json())
    assert set(orjson.loads(read("manifest-v1-crate.json"))) == known
