"""Clones: a new query that begins with another's state and names its objects, copying nothing.

Order: note at which queries refs will be held, put the refs, read the origin again, then create the
clone's first manifest.

Failure: killed before that manifest → refs that protect too much, which `holdfast rm` of the
clone's name removes; the name can be cloned to again. After it → a clone.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from holdfast.chain.begin import NewChain, begin, first_number
from holdfast.chain.compose import NewFile
from holdfast.chain.contents import read_files
from holdfast.chain.foreign import (
    Hold,
    of_query,
    owner_of,
    put_hold,
    release_hold,
    roots_named,
)
from holdfast.chain.objects import needed
from holdfast.chain.refs import Source, hold, source
from holdfast.errors import CommitUnknownError, HoldfastError
from holdfast.manifest.record import Lineage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.chain.context import Context
    from holdfast.chain.head import Head
    from holdfast.manifest.files import FileEntry


class Rewrite(Protocol):
    """What differs in a clone, such as files that hold absolute paths."""

    def wants(self, path: str) -> bool:
        """Whether the file with this path has other bytes in the clone."""

    def rewrite(self, path: str, body: bytes) -> bytes:
        """Its bytes in the clone."""

    def notes(self, notes: Mapping[str, Any]) -> dict[str, Any]:
        """The notes of the clone's first checkpoint, from those of the original's."""


def clone(context: Context, target: int | str, to: str, *, rewrite: Rewrite) -> Context:
    """Begin the query `to` with the state of a checkpoint or tag of this one.

    Raises:
        AlreadyExistsError: the query `to` exists.
        CorruptionError: the checkpoint is not valid, or was retired meanwhile.
    """
    begun = of_query(context, to)
    number = first_number(begun)
    origin = source(context, target)
    head = origin.head
    head.files = {path: _store_relative(context, file) for path, file in head.files.items()}
    held = Hold(
        incarnation=context.nonces(), number=number, roots=tuple(sorted(roots_named(needed(head))))
    )
    try:
        _protect(begun, origin, held)
        begin(
            begun,
            _new_chain(context, held, head),
            head,
            facts=head.facts,
            added=_rewritten(context, head, rewrite),
            notes=rewrite.notes(head.notes),
        )
    except CommitUnknownError:
        raise  # it may exist yet, and then the refs protect what it names
    except HoldfastError:
        with suppress(HoldfastError):  # the error is raised; `holdfast rm` finds refs that stay
            release_hold(begun, held)
        raise
    return begun


def _protect(begun: Context, origin: Source, held: Hold) -> None:
    """A ref in every chain whose objects the clone will name, the origin being read last."""
    if held.roots:
        put_hold(begun, held)
    for root in held.roots:
        owner = owner_of(begun, root)
        hold(owner, origin, owner.keys.clone(begun.query, held.incarnation))


def _new_chain(context: Context, held: Hold, head: Head) -> NewChain:
    lineage = Lineage(incarnation=held.incarnation, number=held.number, batch=head.batch)
    return NewChain(number=held.number, lineage=lineage, origin=context.query)


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
