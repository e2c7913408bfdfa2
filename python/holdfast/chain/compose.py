"""Composing a manifest: what changed, as the bytes to write.

A full manifest lists every live file and carries the bytes of those that were inline before it,
so that nothing reaches behind it but packs and large files.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from holdfast.chain import rules
from holdfast.errors import ConfigError
from holdfast.manifest.files import FileEntry, FileTable, ObjectRef, checked_path
from holdfast.manifest.model import CheckpointManifest
from holdfast.manifest.nested import OperatorCheckpoint
from holdfast.manifest.record import (
    OPERATOR,
    ChainManifest,
    Kind,
    Lineage,
    Parent,
    Record,
    encode_chain_manifest,
)
from holdfast.pack import encode_batch

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from holdfast.chain.context import Context
    from holdfast.chain.head import Head
    from holdfast.manifest.facts import Facts
    from holdfast.manifest.plan import Plan
    from holdfast.manifest.recap import Recap
    from holdfast.objectstore import Body


@dataclass(frozen=True, slots=True, kw_only=True)
class NewFile:
    """A file to be made durable: its bytes, or the object that already holds them.

    A directory has a path that ends with "/" and no bytes.
    """

    path: str
    mtime_ms: int
    body: Body = b""
    uploaded: ObjectRef | None = None

    def __post_init__(self) -> None:
        checked_path(self.path)
        if self.uploaded is not None and self.body:
            raise ConfigError("a file has bytes or an object, not both", path=self.path)

    @property
    def size(self) -> int:
        return self.uploaded.size if self.uploaded else len(self.body)

    def entry(self, pack: ObjectRef | None) -> FileEntry:
        """How a manifest lists it, its bytes being in this pack if they are small."""
        ref = self.uploaded or (pack if self.body else None)
        return FileEntry(self.path, self.size, self.mtime_ms, ref)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """From one head to the next manifest."""

    kind: Kind
    number: int
    claim: int
    lineage: Lineage
    batch: int
    full: bool
    facts: Facts
    added: tuple[NewFile, ...] = ()
    removed: frozenset[str] = frozenset()
    plans: tuple[Plan, ...] = ()
    notes: Mapping[str, Any] = field(default_factory=dict)
    skipped: tuple[tuple[int, str], ...] = ()
    always_inline: bool = False
    parent_query: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A manifest that is not durable yet; a pack, if there is one, must be durable before it."""

    entry: ChainManifest
    body: bytes
    pack_key: str = ""
    pack: bytes = b""


def compose(context: Context, head: Head, change: Change, *, recap: Recap | None = None) -> Draft:
    """Everything that the next manifest says, encoded.

    `recap` is what a full one tells of the numbers before it, whatever state it goes on from.
    """
    nonce = context.nonces()
    small: dict[str, Body] = {file.path: file.body for file in change.added if file.body}
    if change.full:
        dropped = change.removed.union(file.path for file in change.added)
        carried = {p: body for p, body in head.inline_contents().items() if p not in dropped}
        small = {**carried, **small}
    pack = encode_batch(sorted(small.items())) if small else b""
    ref = _place(context, change, pack, nonce)
    files = _files(head, change, ref)
    manifest = _manifest(context, head, change, pack, ref)
    record = Record(
        kind=change.kind,
        nonce=nonce,
        claim=change.claim,
        lineage=change.lineage,
        query=context.query,
        batch=change.batch,
        writer=context.writer,
        base=change.number if change.full else head.base,
        parent=_parent(head, change),
        files=files,
        removed=() if change.full else tuple(sorted(change.removed)),
        plans=change.plans,
        notes=change.notes,
        skipped=change.skipped,
        recap=recap if change.full else None,
    )
    body = encode_chain_manifest(manifest, record)
    digest = hashlib.sha256(body).hexdigest()
    entry = ChainManifest(manifest=manifest, record=record, sha256=digest)
    if ref is None or ref.kind == "inline":
        return Draft(entry=entry, body=body)
    return Draft(entry=entry, body=body, pack_key=context.key_of(ref.key), pack=pack)


def _place(context: Context, change: Change, pack: bytes, nonce: str) -> ObjectRef | None:
    """Where the pack goes: into the manifest if it is small, else under a key of its own."""
    if not pack:
        return None
    if change.always_inline or len(pack) <= context.settings.inline_bytes_max:
        return ObjectRef("inline", number=change.number)
    if rules.pack_has_number_key(change.kind):
        key = context.keys.state(change.number)
    else:
        key = context.keys.file(change.claim, f"pack-{nonce}")
    return ObjectRef("pack", context.relative(key), len(pack), hashlib.sha256(pack).hexdigest())


def _files(head: Head, change: Change, ref: ObjectRef | None) -> FileTable:
    added = (file.entry(ref) for file in change.added)
    if not change.full:
        return FileTable.of(added)
    live = {
        path: file._replace(ref=ref) if file.ref and file.ref.kind == "inline" else file
        for path, file in head.files.items()
        if path not in change.removed
    }
    live.update((file.path, file) for file in added)
    return FileTable.of(live.values())


def _manifest(
    context: Context, head: Head, change: Change, pack: bytes, ref: ObjectRef | None
) -> CheckpointManifest:
    """The seed's fields.

    Readers of its format refuse epoch 0, so the first claim has 1, and a removed query has 0.
    """
    manifest = CheckpointManifest(
        checkpoint_id=change.number,
        epoch=0 if change.kind is Kind.REMOVED else max(1, change.batch + 1),
        timestamp_ms=context.clock.now_ms(),
        size_bytes=_size_after(head, change),
        is_incremental=not change.full,
        parent_id=None if change.parent_query or not head.number else head.number,
    )
    change.facts.write_to(manifest)
    if ref is not None and ref.kind == "inline":
        manifest.operator_states[OPERATOR] = OperatorCheckpoint.inline(pack)
    elif ref is not None and rules.pack_has_number_key(change.kind):
        manifest.operator_states[OPERATOR] = OperatorCheckpoint.at(0, len(pack))
        manifest.state_checksum = ref.sha256
    return manifest


def _parent(head: Head, change: Change) -> Parent | None:
    if not head.number:
        return None
    return Parent(number=head.number, sha256=head.sha256, query=change.parent_query)


def _size_after(head: Head, change: Change) -> int:
    """Bytes of all live files, without walking over them."""
    added = {file.path: file.size for file in change.added}
    gone: Iterable[str] = change.removed.union(added)
    return (
        head.size_bytes
        + sum(added.values())
        - sum(head.files[path].size for path in gone if path in head.files)
    )
