"""What prune and orphans delete, or would delete."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.report.documents import Format  # noqa: TC001 - json_keys resolves it
from holdfast.report.tables import (
    BAD,
    GOOD,
    QUIET,
    STRONG,
    WARN,
    fields,
    heading,
    indented,
    line,
    styled,
)
from holdfast.report.units import count_text, ranges_text, size_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from holdfast.report.tables import View

_KEYS_SHOWN = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtectedPart:
    """What stays although it is old, and why."""

    what: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CleaningReport:
    """`holdfast prune` and `holdfast orphans`.

    `checkpoints` are deleted, `tombstones` are emptied and keep their numbers taken, `intents`
    counts the plans that go with them. `objects` and `bytes_freed` are those of packs and files.
    """

    store: str
    query: str
    format: Format
    dry_run: bool
    keep: int | None
    kept_from: int | None = None
    checkpoints: tuple[int, ...] = ()
    tombstones: tuple[int, ...] = ()
    intents: int = 0
    objects: tuple[str, ...] = ()
    bytes_freed: int | None = None
    protected: tuple[ProtectedPart, ...] = ()
    failed: tuple[ProtectedPart, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to delete."""
        return not (self.checkpoints or self.tombstones or self.intents or self.objects)


def render(report: CleaningReport, view: View) -> Iterator[RenderableType]:
    """What goes, what stays against the count, what could not be deleted."""
    del view
    if report.is_empty:
        yield line(styled("nothing to delete", GOOD), _kept(report))
        yield from _stays(report)
        return
    verb = styled("would delete", WARN) if report.dry_run else styled("deleted", GOOD)
    yield line(verb, f" from {report.query}", _kept(report))
    yield indented(fields(_facts(report)))
    yield from _objects(report)
    yield from _stays(report)


def _kept(report: CleaningReport) -> str:
    if report.keep is None:
        return ": what no checkpoint needs"
    since = f", checkpoints from {report.kept_from} on stay" if report.kept_from else ""
    return f": --keep {report.keep}{since}"


def _facts(report: CleaningReport) -> list[tuple[str, str]]:
    freed = "" if report.bytes_freed is None else f", {size_text(report.bytes_freed)}"
    objects = f"{count_text(len(report.objects), 'object')}{freed}"
    return [
        ("checkpoints", ranges_text(report.checkpoints)),
        ("tombstones", _tombstones(report)),
        ("plans", "" if not report.intents else count_text(report.intents, "intent")),
        ("objects", objects if report.objects else ""),
    ]


def _tombstones(report: CleaningReport) -> str:
    if not report.tombstones:
        return ""
    return f"{ranges_text(report.tombstones)} (emptied; their numbers stay taken)"


def _objects(report: CleaningReport) -> Iterator[RenderableType]:
    if report.objects:
        yield heading("Objects")
    for key in report.objects[:_KEYS_SHOWN]:
        yield line(f"  {key}")
    left = len(report.objects) - _KEYS_SHOWN
    if left > 0:
        yield styled(f"  and {left} more: --json has them all", QUIET)


def _stays(report: CleaningReport) -> Iterator[RenderableType]:
    if report.protected:
        yield heading("Stays")
    for part in report.protected:
        yield line(styled(part.what, STRONG), f": {part.reason}")
    if report.failed:
        yield heading("Could not be deleted")
    for part in report.failed:
        yield line(styled(part.what, BAD), f": {part.reason}")
