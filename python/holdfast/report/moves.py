"""What import and export did: from where to where, how much, and how to go on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.report.tables import STRONG, fields, indented, line, styled
from holdfast.report.units import count_text, size_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from holdfast.report.tables import View


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """`holdfast import`; `planned` is a batch that was begun and not committed, and runs first.

    `left_behind` counts temporary files and Hadoop's checksums, `unfinished` state files of a
    batch that was not committed. `location` is what the job's checkpointLocation must be.
    """

    store: str
    query: str
    origin: str
    location: str
    query_id: str
    checkpoint: int
    batch: int | None
    next_batch: int
    planned: int | None
    files: int
    size_bytes: int
    objects: int
    left_behind: int
    unfinished: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportReport:
    """`holdfast export`; `location` is what the job's checkpointLocation must be."""

    store: str
    query: str
    destination: str
    location: str
    checkpoint: int
    tag: str
    batch: int | None
    next_batch: int
    planned: int | None
    files: int
    size_bytes: int


def render_import(report: ImportReport, view: View) -> Iterator[RenderableType]:
    """What there is now, and the line for the job."""
    del view
    size = f"{count_text(report.files, 'file')}, {size_text(report.size_bytes)}"
    where = f" in {count_text(report.objects, 'object')}" if report.objects else ""
    yield line(styled(report.query, STRONG), f" begins where {report.origin} stands")
    yield indented(
        fields(
            [
                ("state", f"{size}{where}"),
                ("batch", _batch(report.batch)),
                ("next batch", _next(report.next_batch, report.planned)),
                ("left behind", _left(report)),
                ("query id", report.query_id),
            ]
        )
    )
    yield from _go_on(report.location, "the old checkpoint")


def render_export(report: ExportReport, view: View) -> Iterator[RenderableType]:
    """What there is now, and the line for the job."""
    del view
    tag = f" (tag {report.tag})" if report.tag else ""
    yield line(
        styled(report.destination, STRONG),
        f" holds checkpoint {report.checkpoint}{tag} of {report.query}",
    )
    yield indented(
        fields(
            [
                ("state", f"{count_text(report.files, 'file')}, {size_text(report.size_bytes)}"),
                ("batch", _batch(report.batch)),
                ("next batch", _next(report.next_batch, report.planned)),
            ]
        )
    )
    yield from _go_on(report.location, f"{report.query} itself")


def _go_on(location: str, other: str) -> Iterator[RenderableType]:
    yield line(f'go on with .option("checkpointLocation", "{location}")')
    yield line(f"{other} is untouched; started again, it would read the same input once more")


def _batch(batch: int | None) -> str:
    return "none committed yet" if batch is None else str(batch)


def _next(batch: int, planned: int | None) -> str:
    return f"{batch}, as it was planned before" if planned is not None else str(batch)


def _left(report: ImportReport) -> str:
    parts = []
    if report.left_behind:
        parts.append(f"{count_text(report.left_behind, 'file')} that Spark does not need")
    if report.unfinished:
        files = count_text(report.unfinished, "state file")
        parts.append(f"{files} of the batch that was not committed")
    return ", ".join(parts)
