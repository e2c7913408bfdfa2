"""The table of files: what a manifest may list, read for all files at once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import ConfigError, CorruptionError
from holdfast.manifest.fields import Fields
from holdfast.manifest.files import FileTable, ObjectRef, checked_path, ref_from_json, ref_to_json

PATHS = st.lists(st.text(alphabet="a./\n\t\x7f\u2028é", max_size=5), unique=True, max_size=4)


def table(*paths: str) -> FileTable:
    count = len(paths)
    columns = {"sizes": [0] * count, "mtimes_ms": [0] * count, "object": [-1] * count}
    document = {"paths": list(paths), **columns}
    return FileTable.from_json(Fields(document, "table"), number=1, has_pack=False)


def is_good(path: str) -> bool:
    try:
        checked_path(path)
    except ConfigError:
        return False
    return True


@pytest.mark.parametrize("bad", ["", "/", "/etc", "..", "a/../b", "./a", "a/.", "a//b", "a\tb"])
def test_a_path_that_could_not_be_written_is_not_read(bad: str) -> None:
    """It could lead out of the directory that a catalog or an export is written to."""
    with pytest.raises(CorruptionError, match="a path that is none"):
        table("state/0/0/1.delta", bad, "offsets/0")


@given(PATHS)
def test_all_at_once_are_read_as_one_by_one(paths: list[str]) -> None:
    """The look at all of them finds what a look at each finds, and no more."""
    try:
        read = list(table(*paths).paths)
    except CorruptionError:
        read = None
    assert (read == paths) == all(map(is_good, paths))


@pytest.mark.parametrize("crc32", [None, 0, 2**32 - 1])
def test_a_large_files_second_hash_is_kept(crc32: int | None) -> None:
    """A manifest of an earlier version has none."""
    stored = ref_to_json(ObjectRef("file", "files/1/x", 9, "ab" * 32, crc32=crc32))
    assert stored.get("crc32") == crc32
    assert ref_from_json(stored, 1).crc32 == crc32


@pytest.mark.parametrize("crc32", [-1, 2**32, "7", 0.5, True])
def test_a_second_hash_that_is_none_is_not_read(crc32: object) -> None:
    """It would pass for damage to the file."""
    stored = ref_to_json(ObjectRef("file", "files/1/x", 9, "ab" * 32))
    with pytest.raises(CorruptionError, match="wrong field"):
        ref_from_json({**stored, "crc32": crc32}, 1)
