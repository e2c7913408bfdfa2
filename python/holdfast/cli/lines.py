"""Collecting what `ls` shows: queries by their newest manifest, checkpoints by their own."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from holdfast.chain import Chain
from holdfast.chain.history import history
from holdfast.chain.read import Reader, list_intents, list_manifests
from holdfast.chain.refs import list_refs
from holdfast.cli.held import ref_lines
from holdfast.cli.plain import plain_line, plain_lines
from holdfast.cli.target import Target, format_of
from holdfast.errors import ConfigError, CorruptionError, NotFoundError
from holdfast.layout import Keys, query_of_path
from holdfast.layout import Kind as KeyKind
from holdfast.manifest.record import Kind
from holdfast.objectstore import Certificate
from holdfast.objectstore.parallel import gather
from holdfast.report.checkpoints import CheckpointLine, CheckpointListing, known_batch
from holdfast.report.documents import WriterPart, address
from holdfast.report.queries import CertificatePart, QueryLine, StoreListing
from holdfast.report.units import iso_utc
from holdfast.settings import CERTIFICATE_KEY

if TYPE_CHECKING:
    from holdfast.chain.context import Context
    from holdfast.cli.discover import Survey
    from holdfast.objectstore import ObjectStore

_QUERIES_AT_ONCE = 4
_DELETED = "its checkpoints were deleted: there are intents, and no manifest"


def store_listing(store: ObjectStore, below: Survey) -> StoreListing:
    """A line for every query that has checkpoints, or had."""
    found = gather(lambda root: _query_line(store, root), below.roots, parallel=_QUERIES_AT_ONCE)
    return StoreListing(
        store=store.url,
        certificate=_certificate(store),
        queries=tuple(sorted((line for line in found if line), key=lambda line: line.query)),
        stores=tuple(address(store.url, query_of_path(prefix)) for prefix in below.stores),
    )


def chain_checkpoints(target: Target, limit: int | None) -> CheckpointListing:
    """The newest checkpoints of a chain, and all its refs."""
    context = target.chain("ls").context
    numbers = list_manifests(context).numbers
    refs = tuple(ref_lines(context, numbers))
    shown = history(context, newest=limit)
    return CheckpointListing(
        store=target.store.url,
        query=target.query,
        format=target.format,
        manifests=len(numbers),
        more=limit is not None and limit < len(numbers),
        checkpoints=tuple(CheckpointLine.of(found, refs) for found in reversed(shown)),
        refs=refs,
    )


def plain_checkpoints(target: Target, limit: int | None) -> CheckpointListing:
    """The newest checkpoints of a plain checkpoint store."""
    count, lines = plain_lines(target, limit)
    return CheckpointListing(
        store=target.store.url,
        query=target.query,
        format=target.format,
        manifests=count,
        more=len(lines) < count,
        checkpoints=tuple(lines),
    )


def _query_line(store: ObjectStore, root: str) -> QueryLine | None:
    found = format_of(store, Keys(root))
    query = query_of_path(root) if root else store.url
    if found == "none":
        return None
    if found != "chain":
        return plain_line(Target(store=store, query=query, prefix=root, format=found))
    return _chain_line(Chain(store, query).context)


def _chain_line(context: Context) -> QueryLine:
    numbers = list_manifests(context).numbers
    refs = list_refs(context).live.values()
    tags = sum(1 for ref in refs if ref.kind is KeyKind.TAG)
    line = QueryLine(
        query=context.query,
        format="chain",
        state="ok",
        checkpoint=max(numbers, default=None),
        manifests=len(numbers),
        tags=tags,
        clones=len(refs) - tags,
    )
    try:
        return replace(line, **_newest(context, max(numbers))) if numbers else _empty(context, line)
    except (CorruptionError, ConfigError) as error:  # damaged, or of a newer version
        problem = f"checkpoint {line.checkpoint}: {error}"
        return replace(line, state="broken", problem=problem)


def _empty(context: Context, line: QueryLine) -> QueryLine:
    """No manifest: a start that was cut short, or a chain that was deleted by hand."""
    if max(list_intents(context), default=0) <= 1:
        return line
    return replace(line, state="broken", problem=_DELETED)


def _newest(context: Context, number: int) -> dict[str, Any]:
    reader = Reader(context)
    head, entry = reader.head(number), reader.manifest(number)
    return {
        "state": "removed" if entry.record.kind is Kind.REMOVED else "ok",
        "kind": entry.record.kind.value,
        "batch": known_batch(entry.record.batch),
        "epoch": entry.manifest.epoch,
        "time_ms": entry.manifest.timestamp_ms,
        "time": iso_utc(entry.manifest.timestamp_ms),
        "size_bytes": entry.manifest.size_bytes,
        "files": len(head.files),
        "writer": WriterPart.of(entry.record.writer),
    }


def _certificate(store: ObjectStore) -> CertificatePart | None:
    try:
        found = Certificate.from_json(store.get(CERTIFICATE_KEY).body)
    except NotFoundError:
        return None
    if found is None:
        return None
    return CertificatePart(
        verdict=found.verdict,
        time_ms=found.when_ms,
        time=iso_utc(found.when_ms),
        here=found.store == store.url,
    )
