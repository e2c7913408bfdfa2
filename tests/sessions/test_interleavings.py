"""Every interleaving of two writers' store calls: no reported commit is ever lost."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import greenlet
import pytest

from holdfast.errors import CommitUnknownError, FencedError, UnavailableError
from holdfast.objectstore import Blob, Body, MemoryStore, ObjectMeta, Page, PutMode
from holdfast.testing.faults import Fault, FaultyStore, lost_reply
from tests.sessions.support import commit, on_store, sequences

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

Faults: TypeAlias = "Callable[[], list[Fault]]"


def _pause() -> None:
    here = greenlet.getcurrent()
    if here.parent is not None:
        here.parent.switch()


class SteppedStore(MemoryStore):
    """Hands control back before each call of a writer."""

    def put(self, key: str, body: Body, *, mode: PutMode = PutMode.OVERWRITE) -> ObjectMeta:
        _pause()
        return super().put(key, body, mode=mode)

    def get(self, key: str, *, start: int = 0, length: int | None = None) -> Blob:
        _pause()
        return super().get(key, start=start, length=length)

    def list(self, prefix: str = "", *, start_after: str = "", limit: int = 1000) -> Page:
        _pause()
        return super().list(prefix, start_after=start_after, limit=limit)

    def delete(self, keys: Iterable[str]) -> None:
        _pause()
        super().delete(keys)


def _schedules(run: Callable[[list[int]], list[int]]) -> Iterator[list[int]]:
    """Depth first: `run` follows the choices, then takes the first; it says how many it had."""
    choices: list[int] = []
    while True:
        options = run(choices)
        choices += [0] * (len(options) - len(choices))
        yield choices
        while choices and choices[-1] + 1 >= options[len(choices) - 1]:
            choices.pop()
        if not choices:
            return
        choices[-1] += 1


class Race:
    """Two writers that each open, and commit a source of their own until they are fenced."""

    def __init__(self, commits: int, faults: Faults) -> None:
        self.store = SteppedStore()
        self.reported: dict[str, int] = {}
        self.writers = [
            greenlet.greenlet(partial(self._work, name, commits, faults)) for name in "ab"
        ]

    def _work(self, name: str, commits: int, faults: Faults) -> None:
        store = FaultyStore(self.store, faults() if name == "a" else ())
        checkpoints = on_store(store, retain=1)
        try:
            for sequence in range(1, commits + 1):
                try:
                    commit(checkpoints, **{name: sequence})
                except CommitUnknownError:
                    checkpoints.commit()
                self.reported[name] = sequence
        except (FencedError, UnavailableError):
            return

    def run(self, choices: list[int]) -> list[int]:
        options: list[int] = []
        while alive := [writer for writer in self.writers if not writer.dead]:
            chosen = choices[len(options)] if len(options) < len(choices) else 0
            options.append(len(alive))
            alive[chosen].switch()
        return options


def _explore(commits: int, faults: Faults) -> int:
    races: list[Race] = []

    def run(choices: list[int]) -> list[int]:
        races[:] = [Race(commits, faults)]
        return races[0].run(choices)

    explored = 0
    for choices in _schedules(run):
        reported, kept = races[0].reported, sequences(on_store(races[0].store))
        assert reported, choices
        assert all(kept.get(name, 0) >= value for name, value in reported.items()), choices
        explored += 1
    return explored


def test_a_reported_commit_is_never_lost() -> None:
    """Two commits each, with retention at its tightest, so that old numbers are soon free."""
    assert _explore(2, list) >= 900


@pytest.mark.parametrize(
    ("commits", "fault", "at_least"),
    [
        (2, lambda: lost_reply(verb="put"), 2500),
        (1, lambda: Fault(error=UnavailableError("no answer"), verb="put"), 150),
        (1, lambda: Fault(error=UnavailableError("no answer"), verb="list", nth=2), 1000),
    ],
    ids=["lost reply", "no reply", "no listing"],
)
def test_a_reported_commit_is_never_lost_where_replies_are(
    commits: int, fault: Callable[[], Fault], at_least: int
) -> None:
    """The same where one writer's first commit gets no clear answer and is committed again."""
    assert _explore(commits, lambda: [fault()]) >= at_least
