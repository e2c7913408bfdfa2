"""A chain's manifest: the seed's 22 fields, and beside them one object, `holdfast`.

Readers of the seed's format ignore that object and still list, validate and recover the
checkpoint. Ours refuse one without it, one with another checksum, and one of a newer format.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

import orjson

from holdfast.errors import ConfigError, CorruptionError
from holdfast.manifest.envelope import (
    FORMAT,
    check_format,
    check_seal,
    seal,
    writer_from_json,
    writer_to_json,
)
from holdfast.manifest.fields import I64_MAX, Fields, parse_object
from holdfast.manifest.files import FileTable
from holdfast.manifest.model import CheckpointManifest
from holdfast.manifest.plan import Plan
from holdfast.manifest.recap import Recap, read_recap
from holdfast.version import VERSION

OPERATOR = "holdfast"  # the name under which an inline pack or the sidecar is an operator's state

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.ids import Writer
    from holdfast.manifest.files import ObjectRef


class Kind(Enum):
    """Why a manifest was written."""

    COMMIT = "commit"
    CLAIM = "claim"
    ROLLBACK = "rollback"
    RESET = "reset"
    CLONE = "clone"
    REMOVED = "removed"
    TAG = "tag"
    TOMBSTONE = "tombstone"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parent:
    """The manifest whose state this one goes on from; `query` only where it is another's."""

    number: int
    sha256: str
    query: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lineage:
    """The history that a checkpoint belongs to.

    `incarnation` is a random id, drawn when a query begins: at its first start, as a clone, by an
    import, and after a removal. `number` is that of the last rollback or reset, 0 if there was
    none; `parent` is the lineage of the checkpoint that it went back to, and `batch` that
    checkpoint's batch.
    """

    incarnation: str = ""
    number: int = 0
    parent: int = 0
    batch: int = -1

    def branch(self, number: int, batch: int) -> Lineage:
        """The lineage that a rollback with this number begins at this batch."""
        return Lineage(incarnation=self.incarnation, number=number, parent=self.number, batch=batch)


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What the chain knows of one manifest.

    `claim` is the number of the writer's claim, `base` that of the full manifest which this one's
    changes add up from (its own if it is full). `skipped` are the newer checkpoints that a claim
    did not take, each with the reason.
    """

    kind: Kind
    nonce: str
    claim: int
    lineage: Lineage
    query: str
    batch: int
    writer: Writer
    base: int
    parent: Parent | None = None
    files: FileTable = field(default_factory=FileTable)
    removed: tuple[str, ...] = ()
    plans: tuple[Plan, ...] = ()
    notes: Mapping[str, Any] = field(default_factory=dict)
    skipped: tuple[tuple[int, str], ...] = ()
    recap: Recap | None = None

    def named(self) -> frozenset[ObjectRef]:
        """The objects of their own that this manifest names.

        Recaps keep the answer: whoever changes it must make readers pass over older recaps.
        """
        tables = (self.files, *(plan.files for plan in self.plans))
        refs = (ref for table in tables for ref in table.refs)
        return frozenset(ref for ref in refs if ref is not None and ref.key)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainManifest:
    """A decoded manifest; `sha256` is that of its very bytes.

    `etag` is the store's name for this version of the object; empty where it is not known.
    """

    manifest: CheckpointManifest
    record: Record
    sha256: str
    etag: str = ""

    @property
    def number(self) -> int:
        return self.manifest.checkpoint_id

    @property
    def is_full(self) -> bool:
        return self.record.base == self.number

    def inline_pack(self) -> bytes:
        """The pack inside this manifest; empty if there is none."""
        state = self.manifest.operator_states.get(OPERATOR)
        return (state.decode_inline() or b"") if state is not None else b""


def encode_chain_manifest(manifest: CheckpointManifest, record: Record) -> bytes:
    """The sealed JSON; `manifest` brings the 22 fields."""
    own: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "kind": record.kind.value,
        "nonce": record.nonce,
        "claim": record.claim,
        "incarnation": record.lineage.incarnation,
        "lineage": record.lineage.number,
        "lineage_parent": record.lineage.parent,
        "lineage_batch": record.lineage.batch,
        "query": record.query,
        "batch": record.batch,
        "writer": writer_to_json(record.writer),
        "base": record.base,
        "parent": _parent_to_json(record.parent),
        "plans": [plan.to_json() for plan in record.plans],
        "notes": record.notes,
        "removed": record.removed,
        "files": record.files.to_json(),
    }
    if record.skipped:
        own["skipped"] = record.skipped
    if record.recap is not None:
        own["recap"] = record.recap.to_json()
    try:
        return seal(orjson.dumps({**manifest.to_json(), "holdfast": own}), depth=2)
    except (orjson.JSONEncodeError, TypeError) as error:
        raise ConfigError("a manifest holds what JSON cannot", reason=error) from error


def decode_chain_manifest(data: bytes, *, number: int | None, query: str) -> ChainManifest:
    """Read and check what should be manifest `number` of this query; a ref may have any number.

    Raises:
        CorruptionError: damaged, of another number or query, or not a chain's manifest.
        ConfigError: written by a newer version than this one reads.
    """
    what = "ref" if number is None else f"manifest {number}"
    fields = parse_object(data, what)
    own = fields.object("holdfast")
    check_format(own, what)
    check_seal(data, what, depth=2)
    manifest = CheckpointManifest.from_fields(fields)
    if number is not None and manifest.checkpoint_id != number:
        raise CorruptionError(f"{what} is that of another number", found=manifest.checkpoint_id)
    state = manifest.operator_states.get(OPERATOR)
    record = _record(own, manifest.checkpoint_id, has_pack=bool(state and state.state_b64))
    if record.query != query:
        raise CorruptionError(
            f"{what} is that of another query",
            hint="a chain cannot be copied to another name; use `holdfast clone`",
            found=record.query,
            expected=query,
        )
    return ChainManifest(manifest=manifest, record=record, sha256=hashlib.sha256(data).hexdigest())


def _record(own: Fields, number: int, *, has_pack: bool) -> Record:
    kind = own.text("kind")
    if kind not in Kind._value2member_map_:
        raise own.wrong("kind", "a known kind", kind)
    return Record(
        kind=Kind(kind),
        nonce=own.text("nonce"),
        claim=own.integer("claim"),
        lineage=_lineage(own),
        query=own.text("query"),
        batch=own.integer("batch", low=-1, high=I64_MAX),
        writer=writer_from_json(own.object("writer")),
        base=own.integer("base", high=number),
        parent=_parent_from_json(own.optional("parent")),
        files=FileTable.from_json(own.object("files"), number=number, has_pack=has_pack),
        removed=tuple(own.array("removed", of=str)),
        plans=tuple(Plan.from_json(item, "plan") for item in own.array("plans")),
        notes=own.object("notes").rest(),
        skipped=tuple(_skipped(item) for item in own.array("skipped", of=list)),
        recap=read_recap(own.optional("recap"), below=number),
    )


def _lineage(own: Fields) -> Lineage:
    """Manifests from before incarnations had only the number."""
    return Lineage(
        incarnation=own.text("incarnation", default=""),
        number=own.integer("lineage"),
        parent=own.integer("lineage_parent", default=0),
        batch=own.integer("lineage_batch", low=-1, high=I64_MAX, default=-1),
    )


def _skipped(item: list[Any]) -> tuple[int, str]:
    match item:
        case [int(number), str(reason)]:
            return number, reason
    raise CorruptionError("a skipped checkpoint is a number and a reason", found=repr(item)[:80])


def _parent_to_json(parent: Parent | None) -> dict[str, Any] | None:
    if parent is None:
        return None
    return {"number": parent.number, "sha256": parent.sha256, "query": parent.query}


def _parent_from_json(value: object) -> Parent | None:
    if value is None:
        return None
    fields = Fields(value, "parent")
    return Parent(
        number=fields.integer("number"), sha256=fields.text("sha256"), query=fields.text("query")
    )
