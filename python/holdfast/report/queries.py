"""The queries of a store, one line each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from holdfast.report.documents import Format, WriterPart, address
from holdfast.report.tables import (
    BAD,
    GOOD,
    QUIET,
    WARN,
    Column,
    grid,
    heading,
    joined,
    line,
    styled,
)
from holdfast.report.units import age_text, count_text, size_text, utc_text, when_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType
    from rich.text import Text

    from holdfast.report.tables import Cell, View

State: TypeAlias = Literal["ok", "removed", "broken"]
STYLES: dict[str, str] = {"ok": GOOD, "removed": QUIET, "broken": BAD}

_COLUMNS = (
    Column("QUERY"),
    Column("STATE"),
    Column("CHECKPOINT", right=True),
    Column("BATCH", drop=1, right=True),
    Column("AGE", right=True),
    Column("TIME (UTC)", drop=8),
    Column("SIZE", drop=2, right=True),
    Column("FILES", drop=5, right=True),
    Column("TAGS", drop=3, right=True),
    Column("CLONES", drop=4, right=True),
    Column("WRITER", drop=7),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryLine:
    """One query by its newest checkpoint; `state` comes of its manifests, objects are not read.

    `manifests` counts those of retired claims too; `size_bytes` and `files` are the newest state's.
    """

    query: str
    format: Format
    state: State
    problem: str = ""
    checkpoint: int | None = None
    kind: str = ""
    batch: int | None = None
    epoch: int | None = None
    time_ms: int | None = None
    time: str | None = None
    size_bytes: int | None = None
    files: int | None = None
    manifests: int = 0
    tags: int = 0
    clones: int = 0
    writer: WriterPart | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CertificatePart:
    """The verdict that is kept at a store; `here` is false where it came along with a copy."""

    verdict: str
    time_ms: int
    time: str | None
    here: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreListing:
    """`holdfast ls STORE`; `stores` are others inside this one, whose queries are their own."""

    store: str
    certificate: CertificatePart | None
    queries: tuple[QueryLine, ...]
    stores: tuple[str, ...] = ()


def render(listing: StoreListing, view: View) -> Iterator[RenderableType]:
    """The table, then what is wrong and what to do about it."""
    yield line(styled(listing.store, "bold"), "  ", _certificate(listing.certificate, view))
    if listing.stores:
        yield heading("Stores inside this one")
        yield joined(styled(store) for store in listing.stores)
    if not listing.queries:
        yield styled("" if listing.stores else "no queries yet", QUIET)
        return
    yield ""
    yield from grid(_COLUMNS, [_row(query, view) for query in listing.queries], view)
    broken = [query for query in listing.queries if query.problem]
    if broken:
        yield heading(f"{count_text(len(broken), 'query')} in trouble")
    for query in broken:
        yield line(styled(query.query, "bold"), f": {query.problem}")
        yield styled(f"  holdfast recover {address(listing.store, query.query)}", QUIET)


def _certificate(certificate: CertificatePart | None, view: View) -> Text:
    if certificate is None:
        return styled("not certified", WARN)
    if not certificate.here:
        return styled("certified elsewhere: a copy; the next start certifies it anew", WARN)
    style = GOOD if certificate.verdict == "certified" else BAD
    return styled(f"{certificate.verdict} {when_text(certificate.time_ms, view.now_ms)}", style)


def _row(query: QueryLine, view: View) -> list[Cell]:
    return [
        query.query,
        styled(query.state, STYLES[query.state]),
        query.checkpoint,
        query.batch,
        age_text(query.time_ms, view.now_ms),
        utc_text(query.time_ms),
        size_text(query.size_bytes),
        query.files,
        query.tags,
        query.clones,
        str(query.writer or ""),
    ]
