"""Every interleaving within bounds keeps the invariants, on the real chain code."""

from __future__ import annotations

import pytest

from tests.model.run import Task, explain, explore_one
from tests.model.scenarios import QUICK
from tests.summary import count

SCHEDULES_MIN = 20_000


def test_the_quick_tier_explores_enough() -> None:
    """At least twenty thousand schedules; `make model` goes deeper."""
    assert sum(QUICK.values()) >= SCHEDULES_MIN


@pytest.mark.parametrize("name", QUICK)
def test_every_schedule_keeps_every_invariant(name: str, request: pytest.FixtureRequest) -> None:
    """Two and three writers, with crashes, lost replies, corruption, rollback and retention."""
    result = explore_one(Task(name=name, schedules_max=QUICK[name]))
    count(request, "schedules explored, and every invariant holds", result.schedules)
    assert not result.violation, explain(name, result)
    assert result.schedules == QUICK[name]
