"""Every clause of the protocol is needed: without it, some schedule breaks an invariant."""

from __future__ import annotations

from functools import partial

import pytest

from tests.model.clauses import CLAUSES, Clause
from tests.model.execution import ChainExecution
from tests.model.explorer import ViolationError, explore, follow
from tests.model.memory import remembering
from tests.model.stories import tell

SCHEDULES_MAX = 3_000


@pytest.mark.parametrize("clause", CLAUSES, ids=lambda clause: clause.name)
def test_taking_a_clause_out_breaks_a_schedule(
    clause: Clause, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And breaks it again by its token; with the clause, that very schedule breaks nothing."""
    begin = partial(ChainExecution, clause.bounds)
    with monkeypatch.context() as patch:
        clause.take_out(patch)
        with remembering():
            result = (
                tell(begin, clause.story)
                if clause.story
                else explore(begin, schedules_max=SCHEDULES_MAX)
            )
        assert result.violation.startswith(clause.breaks), str(result)
        with pytest.raises(ViolationError, match=clause.breaks):
            list(follow(begin, result.token))
    followed = list(follow(begin, result.token, while_possible=True))
    assert followed == result.schedule[: len(followed)]
    assert followed


@pytest.mark.parametrize("clause", CLAUSES, ids=lambda clause: clause.name)
def test_with_the_clause_the_same_bounds_hold(clause: Clause) -> None:
    """So it is the clause that makes the difference."""
    with remembering():
        result = explore(partial(ChainExecution, clause.bounds), schedules_max=20)
    assert not result.violation, result.schedule
