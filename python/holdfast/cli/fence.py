"""Who runs a query: whom a rollback or a removal will stop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.chain.read import Reader, list_manifests
from holdfast.errors import CorruptionError
from holdfast.report.changes import FencePart
from holdfast.report.documents import WriterPart
from holdfast.report.units import iso_utc

if TYPE_CHECKING:
    from holdfast.chain.context import Context
    from holdfast.manifest.record import ChainManifest


def newest_readable(context: Context) -> ChainManifest | None:
    """The newest manifest that can be read, whether or not its objects are there."""
    reader = Reader(context)
    for number in list_manifests(context).descending():
        try:
            return reader.manifest(number)
        except CorruptionError:
            continue
    return None


def fence_of(context: Context, newest: ChainManifest | None) -> FencePart | None:
    """The writer of the newest manifest: when it claimed the query, and when it wrote last."""
    if newest is None:
        return None
    record = newest.record
    try:
        claimed_ms = Reader(context).manifest(record.claim).manifest.timestamp_ms
    except CorruptionError:  # retired since: the query has run for long
        claimed_ms = None
    last_ms = newest.manifest.timestamp_ms
    return FencePart(
        claim=record.claim,
        writer=WriterPart.of(record.writer),
        claimed_ms=claimed_ms,
        claimed=iso_utc(claimed_ms),
        last_write_ms=last_ms,
        last_write=iso_utc(last_ms),
    )
