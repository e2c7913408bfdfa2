"""The verdict on a store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.report.tables import BAD, GOOD, QUIET, Column, grid, line, styled
from holdfast.report.units import iso_utc

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from holdfast.objectstore import Certificate
    from holdfast.report.tables import Cell, View

_COLUMNS = (
    Column("RULE"),
    Column("VERDICT"),
    Column("TRIED", right=True),
    Column("EVIDENCE", drop=1),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckPart:
    """One rule, how often it was tried, and what broke it."""

    rule: str
    passed: bool
    count: int
    evidence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CertificateReport:
    """`holdfast certify`; the same is kept at the store."""

    store: str
    verdict: str
    time_ms: int
    time: str | None
    seconds: float
    threads: int
    processes: int
    checks: tuple[CheckPart, ...]

    @classmethod
    def of(cls, certificate: Certificate) -> CertificateReport:
        return cls(
            store=certificate.store,
            verdict=certificate.verdict,
            time_ms=certificate.when_ms,
            time=iso_utc(certificate.when_ms),
            seconds=certificate.seconds,
            threads=certificate.threads,
            processes=certificate.processes,
            checks=tuple(
                CheckPart(
                    rule=check.rule,
                    passed=check.passed,
                    count=check.count,
                    evidence=check.evidence,
                )
                for check in certificate.checks
            ),
        )


def render(report: CertificateReport, view: View) -> Iterator[RenderableType]:
    """The checks, then the verdict."""
    rows: list[list[Cell]] = [
        [
            check.rule,
            styled("kept", GOOD) if check.passed else styled("BROKEN", BAD),
            check.count,
            check.evidence,
        ]
        for check in report.checks
    ]
    yield from grid(_COLUMNS, rows, view)
    raced = f"{report.threads} threads and {report.processes} processes raced"
    yield styled(f"{raced} for {report.seconds:.1f} s", QUIET)
    passed = report.verdict == "certified"
    yield line(styled(report.verdict, GOOD if passed else BAD), f": {report.store}")
    if not passed:
        yield line("use another store (conf/STORES.md); after a repair, certify it again")
