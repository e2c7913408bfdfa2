"""Refs: checkpoints that retention must protect, each complete in itself.

A ref holds a full manifest of its checkpoint, inline bytes included, so it needs nothing but the
packs and large files that it names. It is put first; then what it was made from is read again.
Retention deletes manifests before it lists refs and objects after that, so manifests that are still
there prove that every object they name will be seen as protected.

No key of a ref is ever used again, because a delete may arrive late. A clone's ref has the clone's
incarnation in its key. A tag's key has a generation, which is created conditionally, so that a name
belongs to one checkpoint; removing a tag puts a marker for its generation, and the newest marker of
a name stays.

Failure: killed between the put and the second read, or too late → a ref that protects too much,
which `holdfast tag --delete` removes. It is not deleted: someone else may have found it there in
time and rely on it.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import orjson

from holdfast.chain import rules
from holdfast.chain.compose import Change, compose
from holdfast.chain.foreign import roots_named
from holdfast.chain.head import Head
from holdfast.chain.objects import Presence, needed
from holdfast.chain.read import Reader, list_manifests, read_twice
from holdfast.errors import (
    AlreadyExistsError,
    ConfigError,
    CorruptionError,
    NotFoundError,
    UnavailableError,
)
from holdfast.layout import Kind as KeyKind
from holdfast.manifest.record import ChainManifest, Kind, decode_chain_manifest
from holdfast.objectstore import PutMode, scan
from holdfast.objectstore.parallel import gather

if TYPE_CHECKING:
    from holdfast.chain.context import Context
    from holdfast.layout import Parsed
    from holdfast.manifest.files import ObjectRef
    from holdfast.objectstore import ObjectMeta

_RESERVED = "."
_TAG_ATTEMPTS_MAX = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Ref:
    """A protected checkpoint: a tag, or what a clone was made from."""

    key: str
    name: str
    is_clone: bool
    incarnation: str
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


class Source(Protocol):
    """A valid state, and the proof that its objects have not been deleted since it was read."""

    @property
    def head(self) -> Head:
        """The state."""

    def is_still_there(self) -> bool:
        """Whether what it was read from is unchanged, so that its objects are protected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointSource:
    """A checkpoint of a chain; `etags` are those of every manifest from its base on."""

    head: Head
    chain: Context
    etags: dict[int, str]

    def is_still_there(self) -> bool:
        listed = list_manifests(self.chain, above=min(self.etags) - 1).numbers
        present = {number: listed[number].etag for number in self.etags if number in listed}
        return rules.ref_is_in_time(self.etags, present)


@dataclass(frozen=True, slots=True, kw_only=True)
class TagSource:
    """A tag, which is complete in itself and never changes, until it is removed."""

    head: Head
    chain: Context
    key: str
    name: str

    def is_still_there(self) -> bool:
        """Listed, because a tag that is being removed may be there beside its marker."""
        return self.key in list_refs(self.chain, self.chain.keys.tags_named(self.name)).live


@dataclass(frozen=True, slots=True)
class RefListing:
    """What is listed below `refs/`: live refs, and how far each tag's name is removed."""

    metas: tuple[ObjectMeta, ...] = ()
    live: dict[str, Parsed] = field(default_factory=dict)
    removed: dict[str, int] = field(default_factory=dict)

    def tag(self, name: str) -> str | None:
        """The key of the tag with this name."""
        found = [
            (parsed.number, key)
            for key, parsed in self.live.items()
            if parsed.kind is KeyKind.TAG and parsed.name == name
        ]
        return max(found)[1] if found else None

    def generation(self, name: str) -> int:
        """The newest generation of a name, removed or not; 0 if there is none."""
        key = self.tag(name)
        return max(self.removed.get(name, 0), 0 if key is None else self.live[key].number)


def list_refs(context: Context, prefix: str = "") -> RefListing:
    """The refs of a query, unread; or those whose keys start with a prefix."""
    metas = tuple(scan(context.store, prefix or context.keys.refs))
    parsed = {meta.key: context.keys.parse(meta.key) for meta in metas}
    removed: dict[str, int] = {}
    for found in parsed.values():
        if found is not None and found.kind is KeyKind.TAG_REMOVAL:
            removed[found.name] = max(found.number, removed.get(found.name, 0))
    live = {
        key: found
        for key, found in parsed.items()
        if found is not None and _is_live(found, removed)
    }
    return RefListing(metas, live, removed)


def _is_live(parsed: Parsed, removed: dict[str, int]) -> bool:
    if parsed.kind is KeyKind.TAG and parsed.name in removed:
        return not rules.is_removed(parsed.number, removed[parsed.name])
    return parsed.kind in (KeyKind.TAG, KeyKind.CLONE)


def source(context: Context, target: int | str) -> Source:
    """A checkpoint by number, or a tag by name.

    Raises:
        NotFoundError: no such tag.
        CorruptionError: it is not valid, or gone.
    """
    found = (
        _checkpoint_source(context, target)
        if isinstance(target, int)
        else _tag_source(context, target)
    )
    Presence(context).check(needed(found.head))
    return found


def _checkpoint_source(context: Context, number: int) -> CheckpointSource:
    reader = Reader(context)
    head = reader.head(number)
    etags = reader.etags(range(head.base, number + 1))
    return CheckpointSource(head=head, chain=context, etags=etags)


def _tag_source(context: Context, name: str) -> TagSource:
    key = find_tag(context, name)
    return TagSource(head=read_ref(context, key).head(), chain=context, key=key, name=name)


def find_tag(context: Context, name: str) -> str:
    """The key of the tag with this name.

    Raises:
        NotFoundError: there is none.
    """
    key = list_refs(context, context.keys.tags_named(name)).tag(name)
    if key is None:
        raise NotFoundError(
            "there is no such tag",
            hint="`holdfast ls` shows them; a checkpoint is named by its number",
            query=context.query,
            tag=name,
        )
    return key


def tag(context: Context, name: str, target: int | str) -> Ref:
    """Protect a checkpoint under a name until the tag is removed; the same one again is success.

    Raises:
        AlreadyExistsError: the name is another checkpoint's.
        CorruptionError: the checkpoint is not valid, or was retired meanwhile.
        ConfigError: the name is reserved.
    """
    if name.startswith(_RESERVED):
        raise ConfigError("a tag's name does not start with a dot", name=name)
    origin: Source = source(context, target)
    for _ in range(_TAG_ATTEMPTS_MAX):
        listed = list_refs(context, context.keys.tags_named(name))
        generation, existing = listed.generation(name) + 1, listed.tag(name)
        if existing is not None:
            origin = _same_checkpoint(context, existing, name, origin.head)
        try:
            # A new generation even for the same checkpoint: a removal may still be under way.
            held = hold(context, origin, context.keys.tag(name, generation))
        except AlreadyExistsError:
            continue  # another operator was faster
        except CorruptionError:
            _remove_generations(context, name, generation)
            raise
        if existing is not None:
            _remove_generations(context, name, generation - 1)
        return held
    raise UnavailableError("the tag keeps changing", hint="try again", tag=name)


def _same_checkpoint(context: Context, key: str, name: str, head: Head) -> TagSource:
    """The tag that has this name already, if it is of the same checkpoint."""
    found = read_ref(context, key).head()
    if found.sha256 != head.sha256:
        raise AlreadyExistsError(
            "this tag's name is another checkpoint's",
            hint="choose another name, or delete the tag first: `holdfast tag --delete`",
            tag=name,
        )
    return TagSource(head=found, chain=context, key=key, name=name)


def hold(context: Context, origin: Source, key: str) -> Ref:
    """Put a ref into a chain, then make sure that it came in time.

    The origin may be another chain's checkpoint: a clone of a clone names objects of both.

    Raises:
        AlreadyExistsError: another writer has this key.
        CorruptionError: the origin was retired meanwhile, so its objects may be gone.
    """
    body = _encode(context, origin.head)
    context.store.put(key, body, mode=PutMode.CREATE)
    if not origin.is_still_there():
        raise CorruptionError(
            "the checkpoint was retired meanwhile",
            hint="take a newer one",
            number=origin.head.number,
        )
    return _parse(context, key, body)


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
    key = find_tag(context, name)
    try:
        roots = roots_named(read_ref(context, key).named())
    except CorruptionError:
        roots = set()
    remove_tag(context, key)
    return roots


def remove_tag(context: Context, key: str) -> None:
    """Remove a tag by its key, with all earlier generations of its name."""
    parsed = context.keys.parse(key)
    if parsed is None or parsed.kind is not KeyKind.TAG:
        raise CorruptionError("not the key of a tag", key=key)
    if parsed.name.startswith(_RESERVED):
        context.store.delete([key])  # a name that is never given again
    else:
        _remove_generations(context, parsed.name, parsed.number)


def _remove_generations(context: Context, name: str, last: int) -> None:
    """Mark all generations up to one as removed, then delete them and older markers."""
    marker = context.keys.tag_removal(name, last)
    body = orjson.dumps({"removed_by": str(context.writer), "nonce": context.nonces()})
    with suppress(AlreadyExistsError):
        context.store.put(marker, body, mode=PutMode.CREATE)
    metas = list_refs(context, context.keys.tags_named(name)).metas
    parsed = ((meta.key, context.keys.parse(meta.key)) for meta in metas)
    old = [key for key, found in parsed if found and found.name == name and found.number <= last]
    context.store.delete([key for key in old if key != marker])


def read_refs(context: Context) -> list[Ref]:
    """All refs, tags and clones; one that is removed while they are read is left out.

    Raises:
        CorruptionError: one cannot be read.
    """
    found = _read_live(context, list_refs(context))
    return [ref for ref in found if ref is not None]


def read_settled_refs(context: Context) -> list[Ref] | None:
    """All refs, if they did not change while they were listed and read; None if they did.

    Where none is listed there never was one: the newest removal marker of every name stays, and a
    clone's ref is listed until its clone is gone.

    Raises:
        CorruptionError: one cannot be read.
    """
    listed = list_refs(context)
    if not listed.metas:
        return []
    found = _read_live(context, listed)
    again = list_refs(context)
    refs = [ref for ref in found if ref is not None]
    all_read = len(refs) == len(found)
    return refs if rules.refs_are_settled(listed.metas, again.metas, all_read=all_read) else None


def _read_live(context: Context, listed: RefListing) -> list[Ref | None]:
    def read(key: str) -> Ref | None:
        try:
            return read_ref(context, key)
        except NotFoundError:
            return None

    return gather(read, listed.live, parallel=context.settings.parallel)


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
    return Ref(
        key=key,
        name=parsed.name,
        is_clone=parsed.kind is KeyKind.CLONE,
        incarnation=parsed.incarnation,
        entry=decode_chain_manifest(body, number=None, query=context.query),
    )
