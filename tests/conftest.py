"""What every run shows at its end, beside what failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.summary import totals

if TYPE_CHECKING:
    import pytest

pytest_plugins = ["tests.s3.fixtures", "tests.postgres.fixtures"]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The counts of all tests."""
    reports = [report for group in terminalreporter.stats.values() for report in group]
    for what, number in totals(reports).items():
        terminalreporter.write_line(f"{number:,} {what}")
