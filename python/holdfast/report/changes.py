"""What tag, clone, rollback and rm do, or would do, and whom they stop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.report.documents import WriterPart  # noqa: TC001 - json_keys resolves it
from holdfast.report.tables import BAD, GOOD, STRONG, WARN, fields, heading, indented, line, styled
from holdfast.report.units import count_text, size_text, when_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType
    from rich.text import Text

    from holdfast.report.tables import View


@dataclass(frozen=True, slots=True, kw_only=True)
class FencePart:
    """The driver that is stopped: who claimed the query last, when, and when it wrote last."""

    claim: int
    writer: WriterPart
    claimed_ms: int | None
    claimed: str | None
    last_write_ms: int
    last_write: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TagReport:
    """`holdfast tag`, and when it was made; `retired`: only this tag still holds the checkpoint."""

    store: str
    query: str
    dry_run: bool
    deleted: bool
    name: str
    checkpoint: int
    batch: int | None
    time_ms: int
    time: str | None
    retired: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CloneReport:
    """`holdfast clone`; `files` and `size_bytes` are shared with the origin, not copied."""

    store: str
    query: str
    clone: str
    checkpoint: int
    batch: int | None
    next_batch: int
    files: int
    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RollbackReport:
    """`holdfast rollback`; batches after `batch` up to `undone_to` run again.

    `number` is the new checkpoint; `repaired` means that the chain could not be started before.
    """

    store: str
    query: str
    dry_run: bool
    target: int
    tag: str
    batch: int | None
    next_batch: int
    time_ms: int
    time: str | None
    files: int
    size_bytes: int
    newest: int | None
    undone_to: int | None
    fences: FencePart | None
    number: int | None = None
    repaired: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovalReport:
    """`holdfast rm`; `nested` are other queries below this name, which stay."""

    store: str
    query: str
    dry_run: bool
    purge: bool
    objects: int
    bytes_freed: int
    tags: tuple[str, ...]
    nested: tuple[str, ...]
    fences: FencePart | None


def render_tag(report: TagReport, view: View) -> Iterator[RenderableType]:
    what = f"checkpoint {report.checkpoint}, {_batch(report.batch)}"
    when = f"made {when_text(report.time_ms, view.now_ms)}"
    if not report.deleted:
        yield line(styled(report.name, STRONG), f" holds {what} of {report.query}, {when}")
        return
    yield line(_verb("delete", "deleted", report.dry_run), f" tag {report.name}: {what}, {when}")
    if report.retired:
        yield styled("nothing else holds this checkpoint: the next prune deletes its objects", WARN)


def render_clone(report: CloneReport, view: View) -> Iterator[RenderableType]:
    del view
    yield line(
        styled(report.clone, STRONG),
        f" begins with checkpoint {report.checkpoint} of {report.query}, {_batch(report.batch)}: ",
        f"{count_text(report.files, 'file')}, {size_text(report.size_bytes)}, nothing copied",
    )
    yield line(f'start it with .option("checkpointLocation", "holdfast:///{report.clone}")')


def render_rollback(report: RollbackReport, view: View) -> Iterator[RenderableType]:
    """Where to, what runs again, and who is stopped."""
    verb = _verb("roll back", "rolled back", report.dry_run)
    tag = f" (tag {report.tag})" if report.tag else ""
    yield line(verb, f" {report.query} to checkpoint {report.target}{tag}")
    yield indented(
        fields(
            [
                ("written", when_text(report.time_ms, view.now_ms)),
                ("state", f"{count_text(report.files, 'file')}, {size_text(report.size_bytes)}"),
                ("batch", _batch(report.batch)),
                ("next batch", str(report.next_batch)),
                ("runs again", _again(report)),
                ("history", "stays; the rollback is one more checkpoint at its end"),
                ("written as", "" if report.number is None else f"checkpoint {report.number}"),
                ("repaired", "the chain could not be started before" if report.repaired else ""),
            ]
        )
    )
    yield from _fenced(report.fences, view, dry_run=report.dry_run)


def render_removal(report: RemovalReport, view: View) -> Iterator[RenderableType]:
    """How much goes, and who is stopped."""
    size = f"{count_text(report.objects, 'object')}, {size_text(report.bytes_freed)}"
    verb = _verb("delete", "deleted", report.dry_run)
    yield line(verb, f" {report.query}: {size}")
    left = (
        "one small object, from whose number a new query of this name counts on"
        if report.purge
        else "small objects, which stop a driver that is only asleep (--purge leaves one)"
    )
    yield indented(fields([("left behind", left), ("tags", ", ".join(report.tags))]))
    if report.nested:
        yield line("  other queries below this name stay: ", ", ".join(report.nested))
    yield from _fenced(report.fences, view, dry_run=report.dry_run)


def _verb(would: str, did: str, dry_run: bool) -> Text:  # noqa: FBT001 - reads like the sentence
    return styled(f"would {would}", WARN) if dry_run else styled(did, GOOD)


def _batch(batch: int | None) -> str:
    return "before the first batch" if batch is None else f"batch {batch}"


def _again(report: RollbackReport) -> str:
    if report.undone_to is None or report.undone_to < report.next_batch:
        return "nothing"
    if report.undone_to == report.next_batch:
        return f"batch {report.next_batch}"
    return f"batches {report.next_batch} to {report.undone_to}"


def _fenced(fence: FencePart | None, view: View, *, dry_run: bool) -> Iterator[RenderableType]:
    yield heading("Would be fenced" if dry_run else "Fenced")
    if fence is None:
        yield line("whoever runs it: no claim can be read")
        return
    yield line(styled(str(fence.writer), BAD))
    yield indented(
        fields(
            [
                ("claimed", f"{when_text(fence.claimed_ms, view.now_ms)} as {fence.claim}"),
                ("wrote last", when_text(fence.last_write_ms, view.now_ms)),
            ]
        )
    )
