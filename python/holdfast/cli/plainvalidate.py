"""Validating a plain checkpoint store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.checkpoint import catalog
from holdfast.cli.plain import checkpoint_line, plain_number
from holdfast.clock import SYSTEM_CLOCK
from holdfast.objectstore.parallel import gather
from holdfast.report.documents import IssuePart
from holdfast.report.verdicts import ValidationReport, Verdict

if TYPE_CHECKING:
    from holdfast.cli.output import Output
    from holdfast.cli.target import Target
    from holdfast.report.checkpoints import CheckpointLine

_PARALLEL = 16


def plain_report(
    target: Target, checkpoint: str, output: Output, *, deep: bool
) -> ValidationReport:
    """The verdicts, newest first."""
    started = SYSTEM_CLOCK.monotonic()
    ids = catalog.list_ids(target.store, target.keys)
    numbers = [plain_number(target, checkpoint)] if checkpoint else ids[::-1]
    with output.working("reading manifests"):
        sizes = gather(lambda number: _size(target, number), numbers, parallel=_PARALLEL)
        lines = gather(lambda number: checkpoint_line(target, number), numbers, parallel=_PARALLEL)
    with output.progress(f"validating {target.query}", sum(sizes)) as progress:
        found = []
        for line, size in zip(lines, sizes, strict=True):
            found.append(_deep(target, line) if deep else _shallow(line))
            progress(size)
    return ValidationReport(
        store=target.store.url,
        query=target.query,
        format=target.format,
        deep=deep,
        valid=all(verdict.valid for verdict in found),
        checkpoints=tuple(found),
        bytes_read=sum(sizes) if deep else 0,
        elapsed_s=SYSTEM_CLOCK.monotonic() - started,
    )


def _size(target: Target, number: int) -> int:
    return catalog.state_size(target.store, target.keys, number) or 0


def _deep(target: Target, line: CheckpointLine) -> Verdict:
    result = target.checkpoints().validate_checkpoint(line.number)
    issues = tuple(
        IssuePart(severity=issue.severity.value, message=issue.message) for issue in result.issues
    )
    return Verdict(
        number=line.number, valid=result.valid, size_bytes=line.size_bytes, issues=issues
    )


def _shallow(line: CheckpointLine) -> Verdict:
    issues = (IssuePart(severity="fatal", message=line.problem),) if line.problem else ()
    return Verdict(number=line.number, valid=not issues, size_bytes=line.size_bytes, issues=issues)
