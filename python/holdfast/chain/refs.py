"""Refs: checkpoints that retention must protect, each complete in itself.

A ref holds a full manifest of its checkpoint, inline bytes included, so it needs nothing but the
packs and large files that it names. It is put first; then what it was made from is read again.
Retention deletes manifests before it lists refs and objects after that, so a manifest that is
still there proves that every object it names will be seen as protected.

Failure: killed between the put and the second read, or too late → a ref that protects too much,
which `holdfast tag --delete` removes. It is not taken back: someone else may have found it there
in time and rely on it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.chain.compose import Change, compose
from holdfast.chain.foreign import roots_named
from holdfast.chain.head import Head
from holdfast.chain.objects import Presence, needed
from holdfast.chain.read import Reader, read_twice
from holdfast.errors import (
    AlreadyExistsError,
    ConfigError,
    CorruptionError,
    NotFoundError,
    PreconditionError,
)
from holdfast.layout import Kind as KeyKind
from holdfast.manifest.record import ChainManifest, Kind, decode_chain_manifest
from holdfast.objectstore import PutMode, scan
from holdfast.objectstore.parallel import gather

if TYPE_CHECKING:
    from holdfast.chain.context import Context
    from holdfast.manifest.files import ObjectRef
    from holdfast.objectstore import ObjectMeta, ObjectStore

_RESERVED = "."
_LEFT = ".left-by-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ref:
    """A protected checkpoint: a tag, or what a clone was made from."""

    key: str
    name: str
    is_clone: bool
    entry: ChainManifest

    def named(self) -> set[ObjectRef]:
        """The objects that it protects."""
        return {ref for ref in self.entry.record.files.refs if ref is not None and ref.key}

    def head(self) -> Head:
        """The state that it protects, under the number and hash of the checkpoint itself."""
        head = Head()
        head.advance(self.entry)
        parent = self.entry.record.parent
        head.sha256 = parent.sha256 if parent is not None else ""
        head.recap = None  # a ref is no manifest of the chain, so it has nothing to tell
        return head


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A valid state, and the object whose presence proves that its objects are still there."""

    head: Head
    key: str
    sha256: str

    def is_still_there(self, store: ObjectStore) -> bool:
        try:
            body = store.get(self.key).body
        except NotFoundError:
            return False
        return hashlib.sha256(body).hexdigest() == self.sha256


def source(context: Context, target: int | str) -> Source:
    """A checkpoint by number, or a tag by name.

    Raises:
        NotFoundError: no such tag.
        CorruptionError: it is not valid, or gone.
    """
    if isinstance(target, int):
        head = Reader(context).head(target)
        found = Source(head=head, key=context.keys.manifest(target), sha256=head.sha256)
    else:
        found = _tag_source(context, target)
    Presence(context).check(needed(found.head))
    return found


def _tag_source(context: Context, name: str) -> Source:
    key = context.keys.tag(name)
    try:
        body = context.store.get(key).body
    except NotFoundError as error:
        raise NotFoundError(
            "no such tag", hint="`holdfast ls` shows them", query=context.query, tag=name
        ) from error
    digest = hashlib.sha256(body).hexdigest()
    return Source(head=_parse(context, key, body).head(), key=key, sha256=digest)


def tag(context: Context, name: str, target: int | str) -> Ref:
    """Protect a checkpoint under a name, for ever; the same one again is success.

    Raises:
        AlreadyExistsError: the name is another checkpoint's.
        CorruptionError: the checkpoint is not valid, or was retired meanwhile.
        ConfigError: the name is reserved.
    """
    if name.startswith(_RESERVED):
        raise ConfigError("a tag's name does not start with a dot", name=name)
    return hold(context, source(context, target), context.keys.tag(name))


def hold(context: Context, origin: Source, key: str) -> Ref:
    """Put a ref into a chain, then make sure that it came in time.

    The origin may be another chain's checkpoint: a clone of a clone names objects of both.
    """
    body = _encode(context, origin.head)
    try:
        context.store.put(key, body, mode=PutMode.CREATE)
    except AlreadyExistsError:
        body = context.store.get(key).body
        if _parse(context, key, body).head().sha256 != origin.head.sha256:
            raise
    _require_in_time(context, origin)
    return _parse(context, key, body)


def hold_also(context: Context, origin: Source, key: str) -> Ref:
    """Let a ref that is there protect this too, without letting go of what it protects.

    A clone that was cut short leaves one, and so does one that is just being made: which of the
    two it is, no one can tell.

    Raises:
        AlreadyExistsError: it changed meanwhile, so someone is making a clone just now.
    """
    found = context.store.get(key)
    left, head = _parse(context, key, found.body).head(), origin.head.copy()
    for file in left.files.values():
        path = f"{_LEFT}{left.number}/{file.path}"
        if file.ref is not None and file.ref.kind != "inline":
            head.files[path] = file._replace(path=path)
    body = _encode(context, head)
    try:
        context.store.put(key, body, mode=PutMode.if_match(found.meta.etag))
    except PreconditionError as error:
        raise AlreadyExistsError("another clone is being made", key=key) from error
    _require_in_time(context, origin)
    return _parse(context, key, body)


def _require_in_time(context: Context, origin: Source) -> None:
    """The origin is read again, now that the ref is there.

    Raises:
        CorruptionError: it is gone, so its objects may be.
    """
    if not origin.is_still_there(context.store):
        raise CorruptionError(
            "the checkpoint was retired meanwhile",
            hint="take a newer one; `holdfast tag --delete` removes a tag that came too late",
            number=origin.head.number,
        )


def _encode(context: Context, head: Head) -> bytes:
    change = Change(
        kind=Kind.TAG,
        number=head.number,
        claim=head.claim,
        lineage=head.lineage,
        batch=head.batch,
        full=True,
        facts=head.facts,
        notes=head.notes,
        always_inline=True,
    )
    return compose(context, head, change).body


def untag(context: Context, name: str) -> set[str]:
    """Remove a tag, and return the roots of the other queries whose objects it named.

    Raises:
        NotFoundError: there is none of this name.
    """
    key = context.keys.tag(name)
    body = context.store.get(key).body
    try:
        roots = roots_named(_parse(context, key, body).named())
    except CorruptionError:
        roots = set()
    context.store.delete([key])
    return roots


def read_refs(context: Context) -> list[Ref]:
    """All refs, tags and clones; one that is let go while they are read counts as gone.

    Raises:
        CorruptionError: one cannot be read.
    """

    def read(key: str) -> Ref | None:
        try:
            return read_ref(context, key)
        except NotFoundError:
            return None

    keys = [meta.key for meta in list_refs(context)]
    found = gather(read, keys, parallel=context.settings.parallel)
    return [ref for ref in found if ref is not None]


def list_refs(context: Context) -> list[ObjectMeta]:
    """The objects that are refs, unread."""
    return [
        meta
        for meta in scan(context.store, context.keys.refs)
        if context.keys.parse(meta.key) is not None
    ]


def read_ref(context: Context, key: str) -> Ref:
    """One ref.

    Raises:
        NotFoundError: there is none.
        CorruptionError: it cannot be read.
    """
    return read_twice(lambda: _parse(context, key, context.store.get(key).body))


def _parse(context: Context, key: str, body: bytes) -> Ref:
    parsed = context.keys.parse(key)
    if parsed is None or parsed.kind not in (KeyKind.TAG, KeyKind.CLONE):
        raise CorruptionError("not the key of a ref", key=key)
    entry = decode_chain_manifest(body, number=None, query=context.query)
    return Ref(key=key, name=parsed.name, is_clone=parsed.kind is KeyKind.CLONE, entry=entry)
