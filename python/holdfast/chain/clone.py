"""Clones: a new query that begins with another's state and names its objects, copying nothing.

Failure: killed before the clone's first manifest → a ref that protects too much at the source,
and a name that can be cloned to again, from any checkpoint; after it → a clone.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from holdfast.chain.begin import begin, require_unused
from holdfast.chain.compose import NewFile
from holdfast.chain.contents import read_files
from holdfast.chain.foreign import of_query, roots_named
from holdfast.chain.objects import needed
from holdfast.chain.refs import Source, hold, hold_also, source
from holdfast.errors import AlreadyExistsError
from holdfast.layout import query_of_path

if TYPE_CHECKING:
    from holdfast.chain.context import Context
    from holdfast.chain.head import Head
    from holdfast.manifest.files import FileEntry


class Rewrite(Protocol):
    """Files that have other bytes in a clone, such as those that hold absolute paths."""

    def wants(self, path: str) -> bool:
        """Whether the file with this path is one of them."""

    def rewrite(self, path: str, body: bytes) -> bytes:
        """Its bytes in the clone."""


def clone(context: Context, target: int | str, to: str, *, rewrite: Rewrite) -> Context:
    """Begin the query `to` with the state of a checkpoint or tag of this one.

    Raises:
        AlreadyExistsError: the query `to` exists.
        CorruptionError: the checkpoint is not valid, or was retired meanwhile.
    """
    begun = of_query(context, to)
    require_unused(begun)
    origin = source(context, target)
    head = origin.head
    head.files = {path: _store_relative(context, file) for path, file in head.files.items()}
    roots = roots_named(needed(head))
    _protect(context, origin, begun.query, roots)
    changed = _rewritten(context, head, rewrite)
    begin(begun, head, facts=head.facts, added=changed, notes=head.notes, origin=context.query)
    return begun


def _protect(context: Context, origin: Source, to: str, roots: set[str]) -> None:
    """A ref in every chain whose objects the clone will name, the origin being read last."""
    for root in sorted(roots):
        owner = of_query(context, query_of_path(root))
        key = owner.keys.clone(to)
        try:
            hold(owner, origin, key)
        except AlreadyExistsError:
            hold_also(owner, origin, key)


def _store_relative(context: Context, file: FileEntry) -> FileEntry:
    """The same file, its object named so that another query finds it."""
    ref = file.ref
    if ref is None or ref.kind == "inline" or ref.key.startswith("/"):
        return file
    return file._replace(ref=replace(ref, key=f"/{context.key_of(ref.key)}"))


def _rewritten(context: Context, head: Head, rewrite: Rewrite) -> tuple[NewFile, ...]:
    wanted = [path for path in head.files if rewrite.wants(path)]
    return tuple(
        NewFile(path=path, mtime_ms=head.files[path].mtime_ms, body=rewrite.rewrite(path, body))
        for path, body in read_files(context, head, wanted).items()
    )
