"""Everything about one checkpoint, as a document."""

from __future__ import annotations

from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from holdfast.report.checkpoints import known_batch
from holdfast.report.documents import Format, WriterPart
from holdfast.report.recovery import PlanPart, SkippedPart
from holdfast.report.units import iso_utc

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from holdfast.chain import Head
    from holdfast.chain.context import Context
    from holdfast.manifest import CheckpointManifest
    from holdfast.manifest.files import FileEntry, ObjectRef
    from holdfast.manifest.record import ChainManifest

UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class ParentPart:
    """The manifest that this one goes on from; `query` only where it is another's (a clone)."""

    number: int
    sha256: str = ""
    query: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcePart:
    """Where a source stands, by its own names."""

    name: str
    epoch: int
    offsets: dict[str, str]
    metadata: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class SinkPart:
    """How far a sink is: Pending, Committed, Failed, or unknown.

    `outcome` tells how sure it is that the batch reached it once: `proven` by a receipt in the
    sink, `replayed` (it had the receipt already, and was not run again), or `unknown`. `failed` is
    the last error before it went well.
    """

    name: str
    epoch: int | None
    status: str
    message: str
    outcome: str = ""
    failed: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectPart:
    """An object that holds bytes of this checkpoint; `inline` is inside a manifest.

    `files` counts those in it, `size_bytes` is the object's own size.
    """

    kind: str
    key: str
    size_bytes: int | None
    sha256: str = ""
    files: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePart:
    """A file, or in a plain checkpoint store an operator's state."""

    path: str
    size_bytes: int
    mtime_ms: int | None = None
    mtime: str | None = None
    object: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointDetail:
    """`holdfast show`; `file_list` is empty unless asked for, `newer` is what cannot be used."""

    store: str
    query: str
    format: Format
    number: int
    kind: str
    batch: int | None
    epoch: int
    time_ms: int
    time: str | None
    full: bool
    base: int | None = None
    claim: int | None = None
    lineage: int | None = None
    parent: ParentPart | None = None
    writer: WriterPart | None = None
    sha256: str = ""
    size_bytes: int | None = None
    files: int | None = None
    files_added: int | None = None
    files_removed: int | None = None
    watermark: int | None = None
    watermark_time: str | None = None
    pipeline_hash: int | None = None
    sources: tuple[SourcePart, ...] = ()
    sinks: tuple[SinkPart, ...] = ()
    objects: tuple[ObjectPart, ...] = ()
    plans: tuple[PlanPart, ...] = ()
    tags: tuple[str, ...] = ()
    clones: tuple[str, ...] = ()
    notes: dict[str, Any] = field(default_factory=dict)
    newer: tuple[SkippedPart, ...] = ()
    file_list: tuple[FilePart, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FileContent:
    """`holdfast show --cat PATH --json`; `text` is none for what is not UTF-8."""

    store: str
    query: str
    number: int
    path: str
    size_bytes: int
    sha256: str
    text: str | None
    base64: str


def of_chain(context: Context, entry: ChainManifest, head: Head) -> dict[str, Any]:
    """The fields that a chain's manifest and the state it stands for give."""
    record = entry.record
    parent = record.parent
    return {
        "kind": record.kind.value,
        "batch": known_batch(record.batch),
        "full": entry.is_full,
        "base": record.base,
        "claim": record.claim,
        "lineage": record.lineage.number,
        "parent": parent
        and ParentPart(number=parent.number, sha256=parent.sha256, query=parent.query),
        "writer": WriterPart.of(record.writer),
        "sha256": entry.sha256,
        "files": len(head.files),
        "files_added": len(record.files),
        "files_removed": len(record.removed),
        "objects": _objects(context, head),
        "plans": PlanPart.all_of((p for _, p in sorted(head.plans.items())), head.next_batch),
        "notes": dict(record.notes),
    }


def of_manifest(
    manifest: CheckpointManifest, notes: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The fields that every manifest has, whoever wrote it; a chain's has notes as well."""
    watermark = manifest.watermark
    return {
        "number": manifest.checkpoint_id,
        "epoch": manifest.epoch,
        "time_ms": manifest.timestamp_ms,
        "time": iso_utc(manifest.timestamp_ms),
        "size_bytes": manifest.size_bytes,
        "watermark": watermark,
        "watermark_time": iso_utc(watermark),
        "pipeline_hash": manifest.pipeline_hash,
        "sources": tuple(
            SourcePart(name=name, epoch=found.epoch, offsets=found.offsets, metadata=found.metadata)
            for name, found in sorted(manifest.source_offsets.items())
        ),
        "sinks": _sinks(manifest, notes),
    }


def listed(files: Iterable[FileEntry], context: Context) -> tuple[FilePart, ...]:
    """The files in the order of their paths."""
    return tuple(
        FilePart(
            path=file.path,
            size_bytes=file.size,
            mtime_ms=file.mtime_ms,
            mtime=iso_utc(file.mtime_ms),
            object="" if file.ref is None else _key(context, file.ref),
        )
        for file in sorted(files, key=lambda file: file.path)
    )


def matches(path: str, pattern: str) -> bool:
    """As a shell would match it; nothing matches everything."""
    return not pattern or fnmatchcase(path, pattern)


def _sinks(manifest: CheckpointManifest, notes: Mapping[str, Any] | None) -> tuple[SinkPart, ...]:
    statuses, epochs = manifest.sink_commit_statuses, manifest.sink_epochs
    noted = None if notes is None else _as_mapping(notes.get("sinks"))
    names = sorted({*manifest.sink_names, *epochs, *statuses, *(noted or ())})
    return tuple(
        SinkPart(
            name=name,
            epoch=epochs.get(name),
            status=statuses[name].state.value if name in statuses else UNKNOWN,
            message=statuses[name].message if name in statuses else "",
            **({} if noted is None else _outcome(_as_mapping(noted.get(name)))),
        )
        for name in names
    )


def _outcome(noted: Mapping[str, Any]) -> dict[str, str]:
    """What the writer noted of a sink; of one that never told of itself nothing is known."""
    outcome, failed = noted.get("outcome"), noted.get("failed")
    return {
        "outcome": outcome if isinstance(outcome, str) else UNKNOWN,
        "failed": failed if isinstance(failed, str) else "",
    }


def _as_mapping(value: object) -> Mapping[str, Any]:
    """Notes are another's: what is not as expected says nothing."""
    return value if isinstance(value, dict) else {}


def _objects(context: Context, head: Head) -> tuple[ObjectPart, ...]:
    counts: dict[ObjectRef, int] = {}
    for file in head.files.values():
        if file.ref is not None:
            counts[file.ref] = counts.get(file.ref, 0) + 1
    return tuple(
        ObjectPart(
            kind=ref.kind,
            key=_key(context, ref),
            size_bytes=ref.size if ref.key else len(head.packs.get(ref.number, b"")),
            sha256=ref.sha256,
            files=count,
        )
        for ref, count in sorted(counts.items(), key=lambda item: (item[0].key, item[0].number))
    )


def _key(context: Context, ref: ObjectRef) -> str:
    """Where its bytes are on the store: in an object of its own, or inside a manifest."""
    return context.key_of(ref.key) if ref.key else context.keys.manifest(ref.number)
