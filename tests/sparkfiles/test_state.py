"""State files: which batch needs which, and what is missing."""

from __future__ import annotations

import pytest

from holdfast.sparkfiles.state import is_beyond, missing_versions, parse_state


@pytest.mark.parametrize(
    ("path", "store", "version"),
    [
        ("state/0/3/12.delta", "state/0/3", 12),
        ("state/0/3/12.snapshot", "state/0/3", 12),
        ("state/1/0/7_0a1b-2c.changelog", "state/1/0", 7),
        ("state/1/0/7_0a1b-2c.zip.crc", "state/1/0", 7),
        ("state/0/0/left-keyToNumValues/4.delta", "state/0/0/left-keyToNumValues", 4),
    ],
)
def test_a_version_is_known_by_its_name(path: str, store: str, version: int) -> None:
    """In every format and at every depth."""
    found = parse_state(path)
    assert found is not None
    assert (found.store, found.version) == (store, version)


@pytest.mark.parametrize("path", ["state/0/0/SSTs/000008-x.sst", "state/0/_metadata/metadata"])
def test_what_has_no_version_is_no_version(path: str) -> None:
    """It belongs to all of them."""
    assert parse_state(path) is None
    assert not is_beyond(path, 0)


def test_what_a_later_batch_wrote_is_beyond() -> None:
    """Batch 4 leaves version 5."""
    assert not is_beyond("state/0/0/5.delta", 4)
    assert is_beyond("state/0/0/6.delta", 4)


@pytest.mark.parametrize(
    "names",
    [
        ["1.delta", "2.delta", "3.delta"],
        ["2.snapshot", "3.delta"],
        ["3.zip"],
        ["2_a.zip", "3_b.changelog", "3_b.changelog.crc"],
        ["2.snapshot", "3.delta", "4.delta"],
    ],
)
def test_a_store_is_whole_from_its_newest_snapshot_on(names: list[str]) -> None:
    """Or from the very first change."""
    assert missing_versions([f"state/0/0/{name}" for name in names], 2) == {}


@pytest.mark.parametrize(
    ("names", "missing"),
    [
        (["1.delta", "3.delta"], 2),
        (["1.delta", "2.delta"], 3),
        (["4.snapshot", "1.delta", "2.delta"], 3),
        (["3_b.changelog.crc", "2_a.zip"], 3),
    ],
)
def test_the_first_version_that_is_missing_is_named(names: list[str], missing: int) -> None:
    """A later snapshot, or a checksum alone, does not help."""
    paths = ["state/0/1/3.zip", *(f"state/0/0/{name}" for name in names)]
    assert missing_versions(paths, 2) == {"state/0/0": missing}


def test_partitions_that_the_batch_did_not_have_do_not_count() -> None:
    """They are left over from before a repartition."""
    paths = ["state/0/0/3.zip", "state/0/1/1.zip"]
    assert missing_versions(paths, 2) == {"state/0/1": 2}
    assert missing_versions(paths, 2, partitions=1) == {}
