"""Refs: checkpoints that retention must protect, each complete in itself.

A ref holds a full manifest of its checkpoint, inline bytes included, so it needs nothing but the
packs and large files that it names. It is put first; then what it was made from is read again.
Retention deletes manifests before it lists refs and objects after that, so a manifest that is
still there proves that every object it names will be seen as protected.

Failure: killed between the put and the second read → a ref that protects too much, which
`holdfast tag --delete` removes.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.chain.compose import Change, compose
from holdfast.chain.head import Head
from holdfast.chain.objects import Presence, needed
from holdfast.chain.read import Reader
from holdfast.errors import AlreadyExistsError, ConfigError, CorruptionError, NotFoundError
from holdfast.layout import Kind as KeyKind
from holdfast.manifest.record import ChainManifest, Kind, decode_chain_manifest
from holdfast.objectstore import PutMode, scan
from holdfast.objectstore.parallel import gather

if TYPE_CHECKING:
    from holdfast.chain.context import Context
    from holdfast.objectstore import ObjectMeta, ObjectStore

_RESERVED = "."


@dataclass(frozen=True, slots=True, kw_only=True)
class Ref:
    """A protected checkpoint: a tag, or what a clone was made from."""

    key: str
    name: str
    is_clone: bool
    entry: ChainManifest

    def head(self) -> Head:
        """The state that it protects, under the number and hash of the checkpoint itself."""
        head = Head()
        head.advance(self.entry)
        parent = self.entry.record.parent
        head.sha256 = parent.sha256 if parent is not None else ""
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
    head = origin.head
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
    body = compose(context, head, change).body
    try:
        context.store.put(key, body, mode=PutMode.CREATE)
    except AlreadyExistsError:
        body = context.store.get(key).body
        if _parse(context, key, body).head().sha256 != head.sha256:
            raise
    if not origin.is_still_there(context.store):
        context.store.delete([key])
        raise CorruptionError("the checkpoint was retired meanwhile", number=head.number)
    return _parse(context, key, body)


def untag(context: Context, name: str) -> None:
    """Remove a tag.

    Raises:
        NotFoundError: there is none of this name.
    """
    key = context.keys.tag(name)
    context.store.head(key)
    context.store.delete([key])


def read_refs(context: Context) -> list[Ref]:
    """All refs, tags and clones.

    Raises:
        CorruptionError: one cannot be read.
    """
    keys = [meta.key for meta in list_refs(context)]
    return gather(lambda key: read_ref(context, key), keys, parallel=context.settings.parallel)


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
    return _parse(context, key, context.store.get(key).body)


def _parse(context: Context, key: str, body: bytes) -> Ref:
    parsed = context.keys.parse(key)
    if parsed is None or parsed.kind not in (KeyKind.TAG, KeyKind.CLONE):
        raise CorruptionError("not the key of a ref", key=key)
    entry = decode_chain_manifest(body, number=None, query=context.query)
    return Ref(key=key, name=parsed.name, is_clone=parsed.kind is KeyKind.CLONE, entry=entry)
