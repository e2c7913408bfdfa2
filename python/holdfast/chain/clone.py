"""Clones: a new query that begins with another's state and names its objects, copying nothing.

Failure: killed before the clone's first manifest → a ref that protects too much at the source,
and a name that can be cloned to again; after it → a clone.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.chain.claim import publish, reserve
from holdfast.chain.compose import Change, NewFile, compose
from holdfast.chain.foreign import of_query, roots_named
from holdfast.chain.objects import needed
from holdfast.chain.read import list_intents, list_manifests
from holdfast.chain.refs import Source, hold, source
from holdfast.errors import AlreadyExistsError
from holdfast.layout import query_of_path
from holdfast.manifest.record import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.chain.context import Context
    from holdfast.chain.head import Head
    from holdfast.manifest.files import FileEntry

_FIRST = 1


def clone(
    context: Context, target: int | str, to: str, *, replaced: Mapping[str, bytes] | None = None
) -> Context:
    """Begin the query `to` with the state of a checkpoint or tag of this one.

    `replaced` gives files other bytes in the clone, such as those that hold absolute paths.

    Raises:
        AlreadyExistsError: the query `to` exists.
        CorruptionError: the checkpoint is not valid, or was retired meanwhile.
    """
    begun = of_query(context, to)
    _require_unused(begun)
    origin = source(context, target)
    head = origin.head
    head.files = {path: _store_relative(context, file) for path, file in head.files.items()}
    roots = roots_named(needed(head))
    _protect(context, origin, to, roots)
    change = Change(
        kind=Kind.CLONE,
        number=_FIRST,
        claim=_FIRST,
        lineage=_FIRST,
        batch=head.batch,
        full=True,
        facts=head.facts,
        added=_new_bytes(head, replaced or {}),
        notes=head.notes,
        parent_query=context.query,
    )
    reserve(begun, _FIRST)
    if publish(begun, compose(begun, head, change)) is not None:
        raise AlreadyExistsError("a query of this name was begun meanwhile", query=to)
    return begun


def _require_unused(context: Context) -> None:
    if list_manifests(context).numbers or max(list_intents(context), default=0) > _FIRST:
        raise AlreadyExistsError(
            "a query of this name exists",
            hint="choose another name, or `holdfast rm` it first",
            query=context.query,
        )


def _protect(context: Context, origin: Source, to: str, roots: set[str]) -> None:
    """A ref in every chain whose objects the clone will name, the origin being read last."""
    for root in sorted(roots):
        owner = of_query(context, query_of_path(root))
        hold(owner, origin, owner.keys.clone(to))


def _store_relative(context: Context, file: FileEntry) -> FileEntry:
    """The same file, its object named so that another query finds it."""
    ref = file.ref
    if ref is None or ref.kind == "inline" or ref.key.startswith("/"):
        return file
    return file._replace(ref=replace(ref, key=f"/{context.key_of(ref.key)}"))


def _new_bytes(head: Head, replaced: Mapping[str, bytes]) -> tuple[NewFile, ...]:
    return tuple(
        NewFile(path=path, mtime_ms=head.files[path].mtime_ms, body=body)
        for path, body in replaced.items()
        if path in head.files
    )
