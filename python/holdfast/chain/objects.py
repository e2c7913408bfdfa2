"""The objects that a checkpoint needs: present, of the right size and, as asked, hashed."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from holdfast.chain.read import read_twice
from holdfast.errors import CorruptionError, NotFoundError
from holdfast.objectstore import scan
from holdfast.objectstore.parallel import gather

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from holdfast.chain.context import Context
    from holdfast.chain.head import Head
    from holdfast.manifest.files import FileEntry, FileTable, ObjectRef

_HEADS_MAX = 64


class MissingError(CorruptionError):
    """An object that a manifest names is not there as it was written."""


def needed(head: Head) -> list[ObjectRef]:
    """Every object that holds bytes of a live or planned file, once each."""
    tables: list[Iterable[FileEntry] | FileTable] = [head.files.values()]
    tables += [plan.files for plan in head.plans.values()]
    refs = {file.ref for table in tables for file in table if file.ref is not None}
    return sorted((ref for ref in refs if ref.kind != "inline"), key=lambda ref: ref.key)


class Presence:
    """Sizes of objects, asked for one by one while they are few, else by one listing."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._sizes: dict[str, int | None] = {}
        self._listed: set[str] = set()

    def check(self, refs: list[ObjectRef]) -> None:
        """Whether each object is there in its size.

        Raises:
            CorruptionError: the first one that is not.
        """
        keys = [self._context.key_of(ref.key) for ref in refs]
        unknown = [key for key in keys if key not in self._sizes]
        if len(unknown) > _HEADS_MAX:
            self._list({key.rpartition("/checkpoints/")[0] for key in unknown})
            unknown = []
        sizes = gather(self._head, unknown, parallel=self._context.settings.parallel)
        self._sizes.update(zip(unknown, sizes, strict=True))
        for ref, key in zip(refs, keys, strict=True):
            size = self._sizes.get(key)
            if size is None:
                raise MissingError("an object is missing", key=key)
            if size != ref.size:
                raise MissingError("an object has another size", key=key, size=size)

    def _head(self, key: str) -> int | None:
        try:
            return self._context.store.head(key).size
        except NotFoundError:
            return None

    def _list(self, roots: set[str]) -> None:
        for root in roots - self._listed:
            for meta in scan(self._context.store, f"{root}/checkpoints/"):
                self._sizes[meta.key] = meta.size
        self._listed |= roots


def check_hashes(
    context: Context, refs: list[ObjectRef], *, progress: Callable[[int], None] | None = None
) -> None:
    """Read every object whole and compare its SHA-256.

    Raises:
        CorruptionError: the first one that differs.
    """

    def check(ref: ObjectRef) -> None:
        fetch(context, ref)
        if progress is not None:
            progress(ref.size)

    gather(check, refs, parallel=context.settings.parallel)


def fetch(context: Context, ref: ObjectRef) -> bytes:
    """An object's bytes, never other ones.

    Raises:
        CorruptionError: missing, or not what was written.
    """
    key = context.key_of(ref.key)

    def read() -> bytes:
        body = context.store.get(key).body
        actual = hashlib.sha256(body).hexdigest()
        if len(body) != ref.size or actual != ref.sha256:
            raise CorruptionError(
                "an object is not what was written", key=key, expected=ref.sha256, actual=actual
            )
        return body

    try:
        return read_twice(read)
    except NotFoundError as error:
        raise CorruptionError("an object is missing", key=key) from error
