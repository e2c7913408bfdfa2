"""Numbers that tests count, added up and shown at the end of a run, also over processes."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable

_PREFIX = "count: "


def count(request: pytest.FixtureRequest, what: str, number: int) -> None:
    """Add to what is shown at the end."""
    request.node.user_properties.append((_PREFIX + what, number))


def totals(reports: Iterable[object]) -> Counter[str]:
    """What all tests of a run have counted."""
    found: Counter[str] = Counter()
    for report in reports:
        if isinstance(report, pytest.TestReport) and report.when == "call":
            for name, number in report.user_properties:
                if name.startswith(_PREFIX) and isinstance(number, int):
                    found[name.removeprefix(_PREFIX)] += number
    return found
