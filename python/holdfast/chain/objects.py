"""The objects that a checkpoint needs: present, of the right size and, as asked, hashed."""

from __future__ import annotations

import hashlib
from itertools import groupby
from typing import TYPE_CHECKING

from holdfast.chain.read import read_twice
from holdfast.errors import CorruptionError, NotFoundError
from holdfast.objectstore import pieces
from holdfast.objectstore.parallel import gather

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from holdfast.chain.context import Context
    from holdfast.chain.head import Head
    from holdfast.manifest.files import FileEntry, FileTable, ObjectRef

_HEADS_MAX = 16


class MissingError(CorruptionError):
    """An object that a manifest names is not there as it was written."""


def needed(head: Head) -> list[ObjectRef]:
    """Every object that holds bytes of a live or planned file, once each."""
    tables: list[Iterable[FileEntry] | FileTable] = [head.files.values()]
    tables += [plan.files for plan in head.plans.values()]
    refs = {file.ref for table in tables for file in table if file.ref is not None}
    return sorted((ref for ref in refs if ref.kind != "inline"), key=lambda ref: ref.key)


class Presence:
    """Sizes of objects, asked for one by one while they are few, else by pages of listings.

    A page starts where the next object is wanted, and several are fetched at once: what is asked
    for decides how many rounds that takes, not how much else is stored.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._sizes: dict[str, int | None] = {}

    def check(self, refs: list[ObjectRef]) -> None:
        """Whether each object is there in its size.

        Raises:
            CorruptionError: the first one that is not.
        """
        keys = [self._context.key_of(ref.key) for ref in refs]
        self._look_up(sorted({key for key in keys if key not in self._sizes}))
        for ref, key in zip(refs, keys, strict=True):
            size = self._sizes.get(key)
            if size is None:
                raise MissingError("an object is missing", key=key)
            if size != ref.size:
                raise MissingError("an object has another size", key=key, size=size)

    def _look_up(self, unknown: list[str]) -> None:
        parallel = self._context.settings.parallel
        if len(unknown) <= _HEADS_MAX:
            sizes = gather(self._head, unknown, parallel=parallel)
            self._sizes.update(zip(unknown, sizes, strict=True))
            return
        parts: list[list[str]] = []
        for _, keys in groupby(unknown, key=_folder):
            wanted = list(keys)
            step = -(-len(wanted) // parallel)
            parts += (wanted[first : first + step] for first in range(0, len(wanted), step))
        for found in gather(self._seek, parts, parallel=parallel):
            self._sizes.update(found)

    def _seek(self, wanted: list[str]) -> dict[str, int | None]:
        """The sizes of keys in ascending order, by as few pages as have them all."""
        sizes: dict[str, int | None] = {}
        while len(sizes) < len(wanted):
            first = wanted[len(sizes)]
            page = self._context.store.list(_folder(first), start_after=first[:-1])
            found = {meta.key: meta.size for meta in page.objects}
            last = page.objects[-1].key if page.more else wanted[-1]
            reached = (key for key in wanted[len(sizes) :] if key <= last)
            sizes.update({key: found.get(key) for key in reached})
        return sizes

    def _head(self, key: str) -> int | None:
        try:
            return self._context.store.head(key).size
        except NotFoundError:
            return None


def _folder(key: str) -> str:
    """Where a query's objects are."""
    root, folder, _ = key.rpartition("/checkpoints/")
    return root + folder


def check_hashes(
    context: Context, refs: list[ObjectRef], *, progress: Callable[[int], None] | None = None
) -> None:
    """Read every object to its end and compare its SHA-256; a large one a piece at a time.

    Raises:
        CorruptionError: the first one that differs.
    """

    def check(ref: ObjectRef) -> None:
        if ref.kind == "file":
            _check_large(context, ref)
        else:
            fetch(context, ref)
        if progress is not None:
            progress(ref.size)

    gather(check, refs, parallel=context.settings.parallel)


def _check_large(context: Context, ref: ObjectRef) -> None:
    def read() -> None:
        for _ in fetch_pieces(context, ref):
            pass

    try:
        read_twice(read)
    except NotFoundError as error:
        raise CorruptionError("an object is missing", key=context.key_of(ref.key)) from error


def fetch_pieces(context: Context, ref: ObjectRef) -> Iterator[bytes]:
    """A large file's bytes; after the last piece it is known whether they were the right ones.

    Raises:
        NotFoundError: missing.
        CorruptionError: not what was written.
    """
    key, digest = context.key_of(ref.key), hashlib.sha256()
    for piece in pieces(context.store, key, ref.size):
        digest.update(piece)
        yield piece
    actual = digest.hexdigest()
    if actual != ref.sha256:
        raise _other(key, ref, actual)


def fetch(context: Context, ref: ObjectRef) -> bytes:
    """An object's bytes, never other ones.

    Raises:
        CorruptionError: missing, or not what was written.
    """
    key = context.key_of(ref.key)

    def read() -> bytes:
        blob = context.store.get(key, length=ref.size)  # never more than was promised
        actual = hashlib.sha256(blob.body).hexdigest()
        if blob.meta.size != ref.size or actual != ref.sha256:
            raise _other(key, ref, actual)
        return blob.body

    try:
        return read_twice(read)
    except NotFoundError as error:
        raise CorruptionError("an object is missing", key=key) from error


def _other(key: str, ref: ObjectRef, actual: str) -> CorruptionError:
    return CorruptionError(
        "an object is not what was written", key=key, expected=ref.sha256, actual=actual
    )
