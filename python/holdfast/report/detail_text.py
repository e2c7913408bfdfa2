"""One checkpoint for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.report.tables import (
    BAD,
    GOOD,
    QUIET,
    STRONG,
    WARN,
    Column,
    fields,
    grid,
    heading,
    indented,
    line,
    styled,
)
from holdfast.report.units import count_text, size_text, utc_text, when_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType
    from rich.text import Text

    from holdfast.report.detail import CheckpointDetail, SinkPart
    from holdfast.report.tables import Cell, View

_STATUS_STYLES = {"Committed": GOOD, "Failed": BAD}
_TOLD = ("sinks", "imported")  # notes that have a place of their own
_OUTCOMES = {
    "proven": ("its receipt is in the sink, written with the rows", GOOD),
    "replayed": ("its receipt was there already, so the sink was not run again", GOOD),
    "unknown": ("nothing in the sink tells whether it got this batch before", QUIET),
}
_KINDS = {
    "commit": "a batch was committed",
    "claim": "a driver took the query over",
    "rollback": "the query was rolled back",
    "reset": "the query began anew",
    "clone": "the query was cloned from another",
    "tag": "held by a tag",
}
_OBJECTS = (
    Column("OBJECT"),
    Column("KIND", drop=2),
    Column("SIZE", right=True),
    Column("FILES", drop=1, right=True),
    Column("SHA-256", drop=3),
)
_FILES = (
    Column("PATH"),
    Column("SIZE", right=True),
    Column("WRITTEN (UTC)", drop=1),
    Column("IN", drop=2),
)


def render(detail: CheckpointDetail, view: View) -> Iterator[RenderableType]:
    """What it is, where it came from, what it holds."""
    yield line(styled(f"checkpoint {detail.number}", STRONG), f" of {detail.query}  {detail.store}")
    for newer in detail.newer:
        yield line(styled(f"{newer.number} is newer and cannot be used", WARN), f": {newer.reason}")
    yield indented(fields(_facts(detail, view)))
    yield from _sources(detail)
    yield from _sinks(detail)
    yield from _plans(detail)
    yield from _objects(detail, view)
    notes = [(name, str(value)) for name, value in detail.notes.items() if name not in _TOLD]
    if notes:
        yield heading("Notes")
        yield indented(fields(notes))


def render_files(detail: CheckpointDetail, view: View) -> Iterator[RenderableType]:
    """Only the files that were asked for."""
    rows = [
        [file.path, size_text(file.size_bytes), utc_text(file.mtime_ms), file.object]
        for file in detail.file_list
    ]
    yield from grid(_FILES, rows, view)
    total = size_text(sum(file.size_bytes for file in detail.file_list))
    yield styled(f"{count_text(len(detail.file_list), 'file')}, {total}", QUIET)


def _facts(detail: CheckpointDetail, view: View) -> list[tuple[str, str]]:
    parent, meaning = detail.parent, _KINDS.get(detail.kind)
    if detail.kind == "clone" and parent is None:
        meaning = "the query was brought in from a checkpoint that Spark wrote"
    changed = f"{detail.files_added} added, {detail.files_removed} removed"
    return [
        ("kind", f"{detail.kind}: {meaning}" if meaning else detail.kind),
        ("imported from", str(detail.notes.get("imported", ""))),
        ("written", when_text(detail.time_ms, view.now_ms)),
        ("writer", str(detail.writer or "")),
        ("batch", "" if detail.batch is None else str(detail.batch)),
        ("epoch", str(detail.epoch)),
        ("form", _form(detail)),
        ("parent", "" if parent is None else _parent(parent.number, parent.query)),
        ("claim", "" if detail.claim is None else f"{detail.claim}, lineage {detail.lineage}"),
        ("state", _state(detail)),
        ("changed", "" if detail.files_added is None or detail.full else changed),
        ("watermark", "" if detail.watermark is None else f"{utc_text(detail.watermark)} UTC"),
        ("pipeline", "" if detail.pipeline_hash is None else f"{detail.pipeline_hash:016x}"),
        ("tags", ", ".join(detail.tags)),
        ("clones", ", ".join(detail.clones)),
        ("sha-256", detail.sha256),
    ]


def _parent(number: int, query: str) -> str:
    return f"{number} of {query}" if query else str(number)


def _form(detail: CheckpointDetail) -> str:
    if detail.full:
        return "full"
    return f"incremental, from {detail.base}" if detail.base else "incremental"


def _state(detail: CheckpointDetail) -> str:
    size = size_text(detail.size_bytes)
    return size if detail.files is None else f"{count_text(detail.files, 'file')}, {size}"


def _sources(detail: CheckpointDetail) -> Iterator[RenderableType]:
    if detail.sources:
        yield heading("Sources")
    for source in detail.sources:
        yield line(styled(source.name, STRONG), styled(f"  epoch {source.epoch}", QUIET))
        yield indented(fields([*source.offsets.items(), *source.metadata.items()]))


def _sinks(detail: CheckpointDetail) -> Iterator[RenderableType]:
    if detail.sinks:
        yield heading("Sinks")
    for sink in detail.sinks:
        yield line(styled(sink.name, STRONG), "  ", _status(sink))
        if sink.outcome:
            meaning, style = _OUTCOMES.get(sink.outcome, ("", QUIET))
            yield indented(line(styled(sink.outcome, style), f": {meaning}" if meaning else ""))
        if sink.failed:
            yield indented(line(styled("failed before that", WARN), f": {sink.failed}"))


def _status(sink: SinkPart) -> Text:
    epoch = "" if sink.epoch is None else f", epoch {sink.epoch}"
    message = f": {sink.message}" if sink.message else ""
    return styled(f"{sink.status}{epoch}{message}", _STATUS_STYLES.get(sink.status, WARN))


def _plans(detail: CheckpointDetail) -> Iterator[RenderableType]:
    if detail.plans:
        yield heading("Plans not yet run")
    for plan in detail.plans:
        shown = "shown at the next start" if plan.shown else "kept until its turn comes"
        files = ", ".join(plan.files)
        yield line(
            styled(f"batch {plan.batch}", STRONG), f"  intent {plan.intent}, {shown}: {files}"
        )


def _objects(detail: CheckpointDetail, view: View) -> Iterator[RenderableType]:
    if not detail.objects:
        return
    yield heading("Objects")
    rows: list[list[Cell]] = [
        [found.key, found.kind, size_text(found.size_bytes), found.files, found.sha256]
        for found in detail.objects
    ]
    yield from grid(_OBJECTS, rows, view)
