"""Where a checkpoint is exported to: a new local directory, or an empty prefix on S3.

Half an export must never be taken for a checkpoint, for Spark would begin anew or go on from half
a state. A directory is filled under another name and renamed when it is whole. On S3, where
nothing is renamed, `metadata` is first a text that Spark refuses to start from, and last itself.

Failure: killed → a hidden directory beside the destination, or a prefix from which no query
starts; both can be deleted.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import shutil
import tempfile
from typing import TYPE_CHECKING, Protocol

from holdfast.errors import (
    AlreadyExistsError,
    ConfigError,
    PermissionDeniedError,
    StoreError,
)
from holdfast.objectstore import ObjectStore, PutMode, open_store
from holdfast.objectstore.base import PIECE_BYTES
from holdfast.sparkfiles.paths import METADATA

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from holdfast.ids import Nonces
    from holdfast.manifest.files import FileEntry
    from holdfast.moving.address import Address

UNFINISHED = b"an export by holdfast is not finished, or was cut short: not a checkpoint\n"


class Destination(Protocol):
    """Taken with `prepare`; a checkpoint once `finish` returns. Any thread may write."""

    def prepare(self) -> None:
        """Make sure that nothing is here, and that half of what comes is no checkpoint.

        Raises:
            AlreadyExistsError: something is here.
        """

    def write(self, file: FileEntry, pieces: Iterable[bytes]) -> None:
        """Write one file, with its time where the place has such."""

    def finish(self) -> None:
        """Everything is written: from now on it is a checkpoint."""

    def abandon(self) -> None:
        """It is not going to be finished."""


class Folder:
    """A local directory."""

    def __init__(self, path: Path, nonces: Nonces) -> None:
        self._path = path
        self._partial = path.with_name(f".{path.name}.{nonces()[:8]}.holdfast-export")

    def prepare(self) -> None:
        with _told(self._path):
            if self._path.exists() and not self._path.is_dir():
                raise ConfigError("a checkpoint is a directory, not a file", path=self._path)
            if self._path.is_dir() and any(self._path.iterdir()):
                raise _occupied(str(self._path))
            self._partial.mkdir(parents=True)

    def write(self, file: FileEntry, pieces: Iterable[bytes]) -> None:
        target = self._partial / file.path
        with _told(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("xb") as opened:
                for piece in pieces:
                    opened.write(piece)
            nanoseconds = file.mtime_ms * 1_000_000
            os.utime(target, ns=(nanoseconds, nanoseconds))

    def finish(self) -> None:
        os.sync()
        try:
            self._partial.rename(self._path)  # onto an empty directory, too
        except OSError as error:
            raise _occupied(str(self._path)) from error
        os.sync()

    def abandon(self) -> None:
        shutil.rmtree(self._partial, ignore_errors=True)


class Bucket:
    """A prefix on S3; the times of its objects are those of the export."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store
        self._metadata = b""

    def prepare(self) -> None:
        there = self._store.list(limit=1).objects
        if there:
            raise _occupied(self._store.url, unfinished=self._is_unfinished())
        self._store.put(METADATA, UNFINISHED, mode=PutMode.CREATE)

    def write(self, file: FileEntry, pieces: Iterable[bytes]) -> None:
        if file.path == METADATA:
            self._metadata = b"".join(pieces)
        elif file.size <= PIECE_BYTES:
            self._store.put(file.path, b"".join(pieces))
        else:
            with _spooled(pieces) as view:
                self._store.put(file.path, view)

    def finish(self) -> None:
        self._store.put(METADATA, self._metadata)

    def abandon(self) -> None:
        """What is there says of itself that it is no checkpoint."""

    def _is_unfinished(self) -> bool:
        found = [meta.size for meta in self._store.list(METADATA).objects if meta.key == METADATA]
        return found == [len(UNFINISHED)] and self._store.get(METADATA).body == UNFINISHED


def open_destination(address: Address, nonces: Nonces) -> Destination:
    """The place at this address; nothing is touched yet."""
    if address.folder is not None:
        return Folder(address.folder, nonces)
    return Bucket(open_store(address.url))


@contextlib.contextmanager
def _spooled(pieces: Iterable[bytes]) -> Iterator[memoryview]:
    """Over a temporary file, because a put has its whole body."""
    with tempfile.TemporaryFile() as file:
        for piece in pieces:
            file.write(piece)
        file.flush()
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
            view = memoryview(mapped)
            try:
                yield view
            finally:
                view.release()


def _occupied(shown: str, *, unfinished: bool = False) -> AlreadyExistsError:
    hint = (
        "an earlier export was cut short here: delete what it left, then run this again"
        if unfinished
        else "name a directory or prefix that does not exist yet, or is empty"
    )
    return AlreadyExistsError("the destination is not empty", hint=hint, destination=shown)


@contextlib.contextmanager
def _told(path: Path) -> Iterator[None]:
    """What the operating system says, as errors of ours."""
    try:
        yield
    except (StoreError, ConfigError):
        raise
    except PermissionError as error:
        raise PermissionDeniedError(
            "the operating system refuses access", path=error.filename or path
        ) from error
    except OSError as error:
        raise StoreError(
            "the operating system refuses", reason=error.strerror, path=error.filename or path
        ) from error
