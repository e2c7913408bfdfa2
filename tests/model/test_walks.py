"""Random walks keep the invariants, and what breaks one is shrunk to a short story."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from holdfast.chain import rules
from tests.model.bounds import Bounds
from tests.model.memory import remembering
from tests.model.walker import Walked, broken_by, parse_token, shrink, walk, walk_once
from tests.summary import count

if TYPE_CHECKING:
    import pytest

SECONDS = 4.0
WALKS_MAX = 200


def test_walks_keep_every_invariant(request: pytest.FixtureRequest) -> None:
    """A few seconds of them in every run; `make model` walks for as long as one likes."""
    walked = walk(seconds_max=SECONDS, seed=0)
    count(request, "random walks, and every invariant holds", walked.walks)
    assert not walked.violation, f"{walked.violation}\n{walked.token}"
    assert walked.walks


def test_a_broken_walk_is_shrunk_and_replayed_by_its_token(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a clause of the protocol, a long walk becomes the steps that matter, and no other."""
    monkeypatch.setattr(rules, "is_highest", lambda number, listed: True)
    bounds = Bounds(drivers=3, starts=3, crashes=0, lost_replies=0, batches=2)
    chance = random.Random(0)
    with remembering():
        broken = (walk_once(bounds, chance) for _ in range(WALKS_MAX))
        schedule, violation = next(each for each in broken if each[1])
        short, said = shrink(bounds, schedule, violation)
        walked = Walked(violation=said, bounds=bounds, schedule=short)
        assert broken_by(*parse_token(walked.token)) == (short, said)
        without = (short[:place] + short[place + 1 :] for place in range(len(short)))
        assert all(
            found is None or found[1][:2] != said[:2]
            for found in (broken_by(bounds, schedule) for schedule in without)
        )
