"""What validation found, checkpoint by checkpoint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.report.documents import Format, IssuePart, address
from holdfast.report.tables import (
    BAD,
    GOOD,
    QUIET,
    STRONG,
    WARN,
    Column,
    grid,
    heading,
    line,
    styled,
)
from holdfast.report.units import count_text, ranges_text, size_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from holdfast.report.tables import Cell, View

_COLUMNS = (
    Column("CHECKPOINT", right=True),
    Column("VERDICT"),
    Column("FILES", drop=2, right=True),
    Column("SIZE", drop=1, right=True),
    Column("HELD AS", drop=3),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One checkpoint, or what a tag or a clone holds of one (`ref` is then `tag` or `clone`)."""

    number: int | None
    valid: bool
    ref: str = ""
    name: str = ""
    files: int | None = None
    size_bytes: int | None = None
    issues: tuple[IssuePart, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationReport:
    """`holdfast validate`; `deep` means that every byte was read and compared."""

    store: str
    query: str
    format: Format
    deep: bool
    valid: bool
    checkpoints: tuple[Verdict, ...]
    refs: tuple[Verdict, ...] = ()
    bytes_read: int = 0
    elapsed_s: float = 0.0


def render(report: ValidationReport, view: View) -> Iterator[RenderableType]:
    """A table of verdicts, each problem in full, and one line that sums up."""
    found = (*report.checkpoints, *report.refs)
    yield from grid(_COLUMNS, [_row(verdict) for verdict in found], view)
    troubled = [verdict for verdict in found if verdict.issues]
    if troubled:
        yield heading("What is wrong")
    for verdict in troubled:
        yield from _issues(verdict)
    yield ""
    yield from _summary(report)


def _row(verdict: Verdict) -> list[Cell]:
    warned = bool(verdict.issues) and verdict.valid
    mark = styled("valid, with warnings", WARN) if warned else styled("valid", GOOD)
    return [
        verdict.number,
        mark if verdict.valid else styled("INVALID", BAD),
        verdict.files,
        size_text(verdict.size_bytes),
        f"{verdict.ref} {verdict.name}".strip(),
    ]


def _issues(verdict: Verdict) -> Iterator[RenderableType]:
    name = f"{verdict.ref} {verdict.name}" if verdict.ref else str(verdict.number)
    for issue in verdict.issues:
        style = BAD if issue.severity == "fatal" else WARN
        yield line(styled(name, STRONG), ": ", styled(issue.severity, style), f": {issue.message}")


def _summary(report: ValidationReport) -> Iterator[RenderableType]:
    bad = [verdict.number for verdict in report.checkpoints if not verdict.valid]
    how = (
        f"every byte was compared, {size_text(report.bytes_read)} of objects"
        if report.deep
        else "objects were looked up, not read"
    )
    cost = f"{how}, {report.elapsed_s:.1f} s"
    if report.valid:
        total = count_text(len(report.checkpoints), "checkpoint")
        refs = f" and {count_text(len(report.refs), 'ref')}" if report.refs else ""
        yield line(styled("valid", GOOD), f": {total}{refs} ({cost})")
        return
    numbers = ranges_text(number for number in bad if number is not None)
    refs = ", ".join(f"{found.ref} {found.name}" for found in report.refs if not found.valid)
    what = "; ".join(filter(None, (numbers and f"checkpoints {numbers}", refs)))
    yield line(styled("INVALID", BAD), f": {what} ({cost})")
    yield styled(
        f"  what a start would take: holdfast recover {address(report.store, report.query)}", QUIET
    )
