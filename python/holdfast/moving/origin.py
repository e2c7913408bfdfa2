"""A checkpoint that Spark wrote, to be read: its names, its bytes, large files in pieces."""

from __future__ import annotations

import contextlib
import mmap
import tempfile
from typing import IO, TYPE_CHECKING

from holdfast.errors import (
    ConfigError,
    HoldfastError,
    MisuseError,
    NotFoundError,
    PermissionDeniedError,
)
from holdfast.objectstore import LocalStore, ObjectMeta, ObjectStore, open_store, pieces, scan

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.moving.address import Address

_ALL = 1 << 62


class Origin:
    """Only read; any thread may."""

    def __init__(self, store: ObjectStore, shown: str) -> None:
        self._store = store
        self.shown = shown

    def list(self) -> list[ObjectMeta]:
        """Every file, in the order of the paths; one list request per thousand on S3."""
        if isinstance(self._store, LocalStore):
            # One walk over the tree, and not one for each page.
            return list(self._store.list(limit=_ALL).objects)
        return list(scan(self._store))

    def read(self, file: ObjectMeta) -> bytes:
        """A small file's bytes.

        Raises:
            MisuseError: it is gone, or another one, since it was listed.
        """
        with self._unchanged(file):
            blob = self._store.get(file.key, length=file.size)
        if blob.meta.size != file.size:
            raise self._changed(file.key)
        return blob.body

    @contextlib.contextmanager
    def mapped(self, file: ObjectMeta) -> Iterator[memoryview]:
        """A large file's bytes, without their being in memory; from S3 over a temporary file.

        Raises:
            MisuseError: it is gone, or another one, since it was listed.
        """
        with contextlib.ExitStack() as stack:
            with self._unchanged(file):
                source: IO[bytes]
                if isinstance(self._store, LocalStore):
                    source = stack.enter_context((self._store.root / file.key).open("rb"))
                else:
                    source = stack.enter_context(tempfile.TemporaryFile())
                    for piece in pieces(self._store, file.key, file.size):
                        source.write(piece)
                    source.flush()
            opened = mmap.mmap(source.fileno(), 0, access=mmap.ACCESS_READ)
            view = memoryview(opened)
            stack.callback(opened.close)
            stack.callback(view.release)
            if len(view) != file.size:
                raise self._changed(file.key)
            yield view

    @contextlib.contextmanager
    def _unchanged(self, file: ObjectMeta) -> Iterator[None]:
        try:
            yield
        except HoldfastError as error:
            if isinstance(error, NotFoundError):
                raise self._changed(file.key) from error
            raise
        except FileNotFoundError as error:
            raise self._changed(file.key) from error
        except PermissionError as error:
            raise PermissionDeniedError(
                "the operating system refuses to read a file of the checkpoint",
                hint="run this as the user that the query ran as",
                path=error.filename,
            ) from error

    def _changed(self, path: str) -> MisuseError:
        return changed(self.shown, path)


def changed(shown: str, path: str) -> MisuseError:
    """The error for a checkpoint that somebody writes to."""
    return MisuseError(
        "the checkpoint changed while it was read, so a query still runs on it",
        hint="stop that query, then run the same command again",
        checkpoint=shown,
        path=path,
    )


def open_origin(address: Address) -> Origin:
    """The checkpoint at this address; nothing is read yet.

    Raises:
        ConfigError: it is a file, or no URL of S3.
        NotFoundError: there is no such directory.
    """
    folder = address.folder
    if folder is None:
        return Origin(open_store(address.url), address.shown)
    if folder.is_file():
        raise ConfigError("a checkpoint is a directory, and this is a file", path=folder)
    if not folder.is_dir():
        raise NotFoundError("there is no such directory", path=folder)
    return Origin(LocalStore(folder), address.shown)
