"""The checkpoints of one query, newest first, with the tags and clones that hold them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.report.documents import Format, WriterPart, address
from holdfast.report.tables import BAD, QUIET, STRONG, Column, grid, heading, line, styled
from holdfast.report.units import (
    age_text,
    iso_utc,
    size_text,
    utc_text,
    when_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from holdfast.chain import Checkpoint, Ref
    from holdfast.report.tables import Cell, View

_COLUMNS = (
    Column("CHECKPOINT", right=True),
    Column("KIND"),
    Column("BATCH", right=True),
    Column("EPOCH", drop=7, right=True),
    Column("AGE", right=True),
    Column("TIME (UTC)", drop=6),
    Column("FORM", drop=4),
    Column("FILES", drop=3, right=True),
    Column("SIZE", drop=2, right=True),
    Column("HELD BY", drop=1),
    Column("WRITER", drop=5),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointLine:
    """One checkpoint; with a `problem` it cannot be used.

    `files_added` of a full one are all its files. `size_bytes` is that of the whole state.
    """

    number: int
    kind: str = ""
    batch: int | None = None
    epoch: int | None = None
    time_ms: int | None = None
    time: str | None = None
    full: bool | None = None
    parent: int | None = None
    files_added: int | None = None
    files_removed: int | None = None
    size_bytes: int | None = None
    manifest_bytes: int | None = None
    claim: int | None = None
    lineage: int | None = None
    writer: WriterPart | None = None
    tags: tuple[str, ...] = ()
    clones: tuple[str, ...] = ()
    problem: str = ""

    @classmethod
    def of(cls, checkpoint: Checkpoint, refs: Sequence[RefLine]) -> CheckpointLine:
        """A line of a chain."""
        held = [ref for ref in refs if ref.checkpoint == checkpoint.number]
        tags = tuple(ref.name for ref in held if ref.kind == "tag")
        clones = tuple(ref.name for ref in held if ref.kind == "clone")
        entry, number = checkpoint.entry, checkpoint.number
        if entry is None:
            return cls(number=number, problem=checkpoint.problem, tags=tags, clones=clones)
        record, manifest = entry.record, entry.manifest
        return cls(
            number=number,
            kind=record.kind.value,
            batch=known_batch(record.batch),
            epoch=manifest.epoch,
            time_ms=manifest.timestamp_ms,
            time=iso_utc(manifest.timestamp_ms),
            full=entry.is_full,
            parent=manifest.parent_id,
            files_added=len(record.files),
            files_removed=len(record.removed),
            size_bytes=manifest.size_bytes,
            manifest_bytes=checkpoint.bytes,
            claim=record.claim,
            lineage=record.lineage.number,
            writer=WriterPart.of(record.writer),
            tags=tags,
            clones=clones,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RefLine:
    """A tag or a clone, and when it was made; `retired`: the chain itself has let it go."""

    kind: str
    name: str
    checkpoint: int | None = None
    batch: int | None = None
    time_ms: int | None = None
    time: str | None = None
    retired: bool = False
    problem: str = ""

    @classmethod
    def of(cls, ref: Ref, *, retired: bool) -> RefLine:
        entry = ref.entry
        return cls(
            kind="clone" if ref.is_clone else "tag",
            name=ref.name,
            checkpoint=entry.number,
            batch=known_batch(entry.record.batch),
            time_ms=entry.manifest.timestamp_ms,
            time=iso_utc(entry.manifest.timestamp_ms),
            retired=retired,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointListing:
    """`holdfast ls STORE/QUERY`; `manifests` counts all, those of retired claims included."""

    store: str
    query: str
    format: Format
    manifests: int
    more: bool
    checkpoints: tuple[CheckpointLine, ...]
    refs: tuple[RefLine, ...] = ()


def known_batch(batch: int) -> int | None:
    """Before the first batch there is none."""
    return None if batch < 0 else batch


def render(listing: CheckpointListing, view: View) -> Iterator[RenderableType]:
    """The table, what is wrong with some of its lines, and the refs that it has no line for."""
    yield line(
        styled(listing.query, STRONG),
        f"  {listing.store}",
        styled(
            "" if listing.format == "chain" else f"  ({listing.format} checkpoint store)", QUIET
        ),
    )
    yield ""
    yield from grid(_COLUMNS, [_row(found, view) for found in listing.checkpoints], view)
    if listing.more:
        yield styled("(older ones: --all shows them)", QUIET)
    yield from _problems(listing)
    yield from _retired(listing, view)


def _problems(listing: CheckpointListing) -> Iterator[RenderableType]:
    broken = [(found.number, found.problem) for found in listing.checkpoints if found.problem]
    broken_refs = [(f"{ref.kind} {ref.name}", ref.problem) for ref in listing.refs if ref.problem]
    if broken or broken_refs:
        yield heading("Cannot be read")
    for name, problem in (*broken, *broken_refs):
        yield line(styled(name, STRONG), f": {problem}")
    if broken:
        yield styled(f"  holdfast recover {address(listing.store, listing.query)}", QUIET)


def _retired(listing: CheckpointListing, view: View) -> Iterator[RenderableType]:
    shown = {found.number for found in listing.checkpoints}
    others = [ref for ref in listing.refs if ref.checkpoint not in shown and not ref.problem]
    if others:
        yield heading("Also held")
    for ref in others:
        batch = "no batch" if ref.batch is None else f"batch {ref.batch}"
        retired = ", retired from the chain" if ref.retired else ""
        yield line(
            styled(f"{ref.kind} {ref.name}", STRONG),
            f": checkpoint {ref.checkpoint}, {batch}, made {when_text(ref.time_ms, view.now_ms)}",
            retired,
        )


def _row(found: CheckpointLine, view: View) -> list[Cell]:
    return [
        found.number,
        styled("broken", BAD) if found.problem else found.kind,
        found.batch,
        found.epoch,
        age_text(found.time_ms, view.now_ms),
        utc_text(found.time_ms),
        "" if found.full is None else ("full" if found.full else "incremental"),
        _files(found),
        size_text(found.size_bytes),
        ", ".join((*found.tags, *(f"clone {name}" for name in found.clones))),
        str(found.writer or ""),
    ]


def _files(found: CheckpointLine) -> str:
    if found.files_added is None or found.full is None:
        return ""
    return str(found.files_added) if found.full else f"+{found.files_added} -{found.files_removed}"
