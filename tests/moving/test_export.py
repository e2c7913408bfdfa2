"""A checkpoint of a chain as a directory, or a prefix, for Spark to go on with."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from holdfast.errors import AlreadyExistsError, ConfigError, CorruptionError, NotFoundError
from holdfast.layout import Keys
from holdfast.moving import destination as places
from holdfast.moving import importing
from holdfast.moving.destination import UNFINISHED, Bucket, Destination, Folder
from holdfast.moving.exporting import carry_out
from holdfast.objectstore import MemoryStore
from tests.chain.support import chain, damage, keys_of
from tests.moving.support import STARTED_S, imported, needed, state_metadata, write, write_stock

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from holdfast.chain import Chain
    from holdfast.manifest.files import FileEntry


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """What survives a power cut is not the claim of these tests."""
    monkeypatch.setattr(os, "sync", lambda: None)


@pytest.fixture
def stock(tmp_path: Path) -> Path:
    """With a large file, and a batch that was begun."""
    root = write_stock(tmp_path / "stock", batches=2, unfinished=True)
    write(root, "state/0/0/SSTs/1.sst", bytes(range(256)) * 4200)
    return root


@pytest.fixture
def begun(stock: Path, monkeypatch: pytest.MonkeyPatch) -> Chain:
    """The same as a chain, in packs and objects."""
    monkeypatch.setattr(importing, "PACK_BYTES_MAX", 300)
    return imported(MemoryStore(), stock)[0]


def folder(path: Path) -> Folder:
    return Folder(path, lambda: "0123456789")


def export(begun: Chain, to: Destination, location: str) -> None:
    carry_out(begun, begun.recover().head, to, location=location)


def test_what_was_imported_comes_out_again(begun: Chain, stock: Path, tmp_path: Path) -> None:
    """The plan of the batch that was begun too, but for the state that it had written."""
    out = tmp_path / "a" / "out"
    export(begun, folder(out), f"file://{out}")
    expected = needed(stock)
    del expected["state/0/0/3.delta"], expected["state/0/1/3.delta"]
    assert needed(out) == {**expected, "state/0/_metadata/v2/0": state_metadata(out)}
    assert (out / "commits/1").stat().st_mtime == STARTED_S + 1
    assert [path.name for path in out.parent.iterdir()] == ["out"]


def test_an_empty_directory_is_filled(begun: Chain, tmp_path: Path) -> None:
    """People make it first."""
    (tmp_path / "out").mkdir()
    export(begun, folder(tmp_path / "out"), "file:///out")
    assert (tmp_path / "out/metadata").exists()


def test_a_destination_that_is_not_empty_is_left_alone(begun: Chain, tmp_path: Path) -> None:
    """Whatever is in it."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out/mine").write_text("")
    with pytest.raises(AlreadyExistsError, match="not empty"):
        export(begun, folder(tmp_path / "out"), "file:///out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine"]
    with pytest.raises(ConfigError, match="not a file"):
        export(begun, folder(tmp_path / "out/mine"), "file:///out")


class Recording:
    """Takes everything, or fails at the n-th file."""

    def __init__(self, inner: Destination, fails_at: int = 0) -> None:
        self.paths: list[str] = []
        self._inner = inner
        self._fails_at = fails_at

    def write(self, file: FileEntry, pieces: Iterable[bytes]) -> None:
        self.paths.append(file.path)
        if len(self.paths) == self._fails_at:
            raise KeyboardInterrupt
        self._inner.write(file, pieces)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def test_the_last_file_is_the_last_commit(begun: Chain) -> None:
    """All that it stands for is there before it."""
    recording = Recording(Bucket(MemoryStore()))
    export(begun, recording, "s3a://bucket/out")
    assert recording.paths[-1] == "commits/1"


@pytest.mark.parametrize("fails_at", [1, 5, 14])
def test_half_an_export_is_no_directory(begun: Chain, tmp_path: Path, fails_at: int) -> None:
    """Wherever it stops; nothing is left lying about."""
    with pytest.raises(KeyboardInterrupt):
        export(begun, Recording(folder(tmp_path / "out"), fails_at), "file:///out")
    assert [path.name for path in tmp_path.iterdir()] == ["stock"]


@pytest.mark.parametrize("fails_at", [1, 5, 14])
def test_half_an_export_to_s3_says_so_itself(begun: Chain, fails_at: int) -> None:
    """Spark refuses to start where `metadata` is no JSON; the next export says what is there."""
    store = MemoryStore()
    with pytest.raises(KeyboardInterrupt):
        export(begun, Recording(Bucket(store), fails_at), "s3a://bucket/out")
    assert store.get("metadata").body == UNFINISHED
    with pytest.raises(AlreadyExistsError, match="an earlier export was cut short here"):
        export(begun, Bucket(store), "s3a://bucket/out")


def test_an_export_to_s3_names_the_new_place(
    begun: Chain, stock: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A large file over a temporary one."""
    monkeypatch.setattr(places, "PIECE_BYTES", 1 << 20)
    store = MemoryStore()
    export(begun, Bucket(store), "s3a://bucket/out")
    moved = state_metadata(stock).replace(f"file:{stock}".encode(), b"s3a://bucket/out")
    assert store.get("state/0/_metadata/v2/0").body == moved
    for path in ("metadata", "state/0/0/SSTs/1.sst", "offsets/2"):
        assert store.get(path).body == (stock / path).read_bytes()


@pytest.mark.parametrize("part", ["pack-", "/files/000001/"])
def test_a_damaged_object_is_never_exported(begun: Chain, tmp_path: Path, part: str) -> None:
    """Packs and large files are compared with their hashes on the way."""
    store = begun.context.store
    found = keys_of(store, Keys.of_query("orders").checkpoints)
    damage(store, next(key for key in found if part in key))
    with pytest.raises(CorruptionError, match="is not what was written"):
        export(begun, folder(tmp_path / "out"), "file:///out")
    assert not (tmp_path / "out").exists()


def test_an_object_that_was_retired_meanwhile_is_told(begun: Chain, tmp_path: Path) -> None:
    """With the way around it."""
    head, store = begun.recover().head, begun.context.store
    store.delete(keys_of(store, Keys.of_query("orders").checkpoints))
    with pytest.raises(CorruptionError, match="missing"):
        carry_out(begun, head, folder(tmp_path / "out"), location="file:///out")


def test_a_chain_that_spark_never_wrote_to_is_no_checkpoint(tmp_path: Path) -> None:
    """A claim alone has no files."""
    store = MemoryStore()
    chain(store).claim()
    with pytest.raises(NotFoundError, match="no files of a Spark query"):
        export(chain(store), folder(tmp_path / "out"), "file:///out")
