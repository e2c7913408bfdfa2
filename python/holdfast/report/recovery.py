"""What a start would take, why each newer checkpoint would not do, and the plan it would show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.report.documents import Format, WriterPart  # noqa: TC001 - json_keys resolves it
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
from holdfast.report.units import count_text, size_text, when_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.console import RenderableType

    from holdfast.manifest.plan import Plan
    from holdfast.report.tables import View

_FILES_SHOWN = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedPart:
    """A checkpoint that is newer than the chosen one, and what is wrong with it."""

    number: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanPart:
    """A batch that was planned and never committed; its sink may have run."""

    batch: int
    intent: int
    files: tuple[str, ...]
    shown: bool

    @classmethod
    def all_of(cls, plans: Iterable[Plan], next_batch: int) -> tuple[PlanPart, ...]:
        return tuple(
            cls(
                batch=plan.batch,
                intent=plan.number,
                files=tuple(sorted(plan.files.paths)),
                shown=plan.batch == next_batch,
            )
            for plan in plans
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveryDocument:
    """`holdfast recover`; `next_batch` is what a start runs, with the plan that is `shown`.

    `examined` counts the checkpoints that were looked at, `deep` whether their bytes were read.
    """

    store: str
    query: str
    format: Format
    deep: bool
    chosen: int | None
    highest: int | None
    kind: str = ""
    batch: int | None = None
    epoch: int | None = None
    next_batch: int | None = None
    time_ms: int | None = None
    time: str | None = None
    files: int | None = None
    size_bytes: int | None = None
    writer: WriterPart | None = None
    skipped: tuple[SkippedPart, ...] = ()
    plans: tuple[PlanPart, ...] = ()
    examined: int = 0
    elapsed_s: float = 0.0


def render(document: RecoveryDocument, view: View) -> Iterator[RenderableType]:
    """The choice first, because someone waits for it."""
    yield line(
        styled(f"checkpoint {document.chosen}", f"bold {WARN if document.skipped else GOOD}"),
        f" is what a start of {document.query} would take",
        "" if document.skipped else ": it is the newest",
    )
    yield indented(fields(_facts(document, view)))
    if document.skipped:
        yield heading(f"Passed over: {count_text(len(document.skipped), 'newer checkpoint')}")
    for skipped in document.skipped:
        yield line(styled(skipped.number, BAD), f": {skipped.reason}")
    yield from _plans(document)
    how = "every byte read" if document.deep else "objects looked up, not read (--deep reads them)"
    yield ""
    yield styled(
        f"{document.examined} examined in {document.elapsed_s:.1f} s, {how}; nothing was changed",
        QUIET,
    )


def _facts(document: RecoveryDocument, view: View) -> list[tuple[str, str]]:
    batch = "none yet" if document.batch is None else str(document.batch)
    following = document.next_batch
    return [
        ("written", when_text(document.time_ms, view.now_ms)),
        ("kind", document.kind),
        ("batch", batch if document.format == "chain" else ""),
        ("epoch", "" if document.epoch is None else str(document.epoch)),
        ("next batch", "" if following is None else str(following)),
        ("state", _state(document)),
        ("writer", str(document.writer or "")),
    ]


def _state(document: RecoveryDocument) -> str:
    if document.files is None:
        return ""
    return f"{count_text(document.files, 'file')}, {size_text(document.size_bytes)}"


def _plans(document: RecoveryDocument) -> Iterator[RenderableType]:
    if document.format != "chain":
        return
    yield heading("Plan")
    if not any(plan.shown for plan in document.plans):
        yield line(f"none: batch {document.next_batch} is planned anew")
    for plan in document.plans:
        names = ", ".join(plan.files[:_FILES_SHOWN])
        more = ", …" if len(plan.files) > _FILES_SHOWN else ""
        what = (
            "is shown: an earlier run planned it, so it runs exactly as planned then"
            if plan.shown
            else "is carried: it runs as planned too, if need be at a start of its own"
        )
        yield line(
            styled(f"batch {plan.batch}", STRONG), f" {what} (intent {plan.intent}: {names}{more})"
        )
