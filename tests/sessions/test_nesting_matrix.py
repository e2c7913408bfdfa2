"""Every sequence of session calls up to a length, against the rules in eight lines."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Literal

import pytest

from holdfast.errors import CommitUnknownError, MisuseError, UnavailableError
from holdfast.objectstore import Body, MemoryStore, ObjectMeta, PutMode
from holdfast.sessions import SourceCheckpoints
from tests.sessions.support import error_of, on_store, sequences

Call = Literal["begin", "stage", "commit", "rollback", "fail"]
CALLS: tuple[Call, ...] = ("begin", "stage", "commit", "rollback", "fail")


@dataclass
class Rules:
    """What must happen: the depth, what is staged and committed, and whether a call errs."""

    depth: int = 0
    staged: int | None = None
    committed: int | None = None
    failed: bool = False

    def errs(self, call: Call) -> bool:
        if call == "begin":
            return self.failed
        return call != "rollback" and self.depth == 0

    def take(self, call: Call, value: int) -> None:
        if self.errs(call):
            return
        if call == "begin":
            self.depth += 1
        elif call == "stage":
            self.staged = value
        elif call == "rollback":
            self.depth, self.staged, self.failed = 0, None, False
        elif self.depth > 1:
            self.depth -= 1
        elif call == "fail" and self.staged is not None:
            self.failed = True
        else:
            self.committed = self.committed if self.staged is None else self.staged
            self.depth, self.staged, self.failed = 0, None, False


class Moody(MemoryStore):
    """Refuses puts while told to."""

    down = False

    def put(self, key: str, body: Body, *, mode: PutMode = PutMode.OVERWRITE) -> ObjectMeta:
        if self.down:
            raise UnavailableError("down")
        return super().put(key, body, mode=mode)


def _perform(checkpoints: SourceCheckpoints, store: Moody, call: Call, value: int) -> object:
    store.down = call == "fail"
    action = {
        "begin": checkpoints.begin,
        "stage": lambda: checkpoints.stage_checkpoint("a", value),
        "rollback": checkpoints.rollback,
    }.get(call, checkpoints.commit)
    return error_of(action)


def _check(calls: tuple[Call, ...], checkpoints: SourceCheckpoints, store: Moody) -> None:
    rules = Rules()
    for value, call in enumerate(calls):
        refused, fails = rules.errs(call), call == "fail" and rules.depth == 1
        fails = fails and rules.staged is not None and not refused
        error = _perform(checkpoints, store, call, value)
        rules.take(call, value)
        assert isinstance(error, MisuseError) == refused, (calls, value)
        assert isinstance(error, CommitUnknownError) == fails, (calls, value)
        assert checkpoints.depth == rules.depth, (calls, value)
    wanted = {} if rules.committed is None else {"a": rules.committed}
    assert sequences(checkpoints) == wanted, calls


@pytest.mark.parametrize("length", range(1, 8))
def test_volatile_sessions_follow_the_rules(length: int) -> None:
    """All sequences of begin, stage, commit and rollback, in memory."""
    for calls in product(CALLS[:4], repeat=length):
        _check(calls, SourceCheckpoints(), Moody())


@pytest.mark.parametrize("length", range(1, 7))
def test_stored_sessions_follow_the_rules(length: int) -> None:
    """The same with commits that fail, on a store."""
    for calls in product(CALLS, repeat=length):
        store = Moody()
        _check(calls, on_store(store), store)
