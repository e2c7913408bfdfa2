"""A process that dies at its n-th store call, for every n: what is there afterwards is legal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from holdfast.objectstore import MemoryStore, ObjectStore
from holdfast.testing import DyingStore, StoreDied
from tests.chain.support import chain, plan, results, run

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.chain import Chain

CALLS_MAX = 200


def prepared() -> MemoryStore:
    """A chain of ten batches on the way, with a tag."""
    store = MemoryStore()
    writer = chain(store, inline_bytes_max=0).claim()
    run(writer, 10)
    chain(store).tag("t", 6)
    return store


def claim(store: ObjectStore) -> None:
    chain(store, "dying").claim()


def intent_and_commit(store: ObjectStore) -> None:
    writer = chain(store, "dying", inline_bytes_max=0).claim()
    batch = writer.head.next_batch
    if writer.head.shown_plan is None:
        writer.intent(batch, plan(batch))
    writer.commit(batch, results(batch))
    writer.write_hint()


def retain(store: ObjectStore) -> None:
    chain(store, "dying").retain(2)


def rollback(store: ObjectStore) -> None:
    chain(store, "dying", inline_bytes_max=0).rollback(5)


def rollback_to_tag(store: ObjectStore) -> None:
    chain(store, "dying", inline_bytes_max=0).rollback("t")


def reset(store: ObjectStore) -> None:
    chain(store, "dying").reset("before reset")


def tag(store: ObjectStore) -> None:
    chain(store, "dying").tag("u", 8)


def clone(store: ObjectStore) -> None:
    chain(store, "dying", inline_bytes_max=0).clone(8, "copy")


def remove(store: ObjectStore) -> None:
    chain(store, "dying").remove()


FLOWS = [claim, intent_and_commit, retain, rollback, rollback_to_tag, reset, tag, clone, remove]


@pytest.mark.parametrize("last_takes_effect", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("flow", FLOWS, ids=lambda flow: flow.__name__)
def test_every_crash_point_leaves_a_chain_that_goes_on(
    flow: Callable[[ObjectStore], None],
    last_takes_effect: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    """A new driver claims, sees a state that was committed, and commits the next batch."""
    for calls in range(CALLS_MAX):
        store = prepared()
        before = batches(chain(store))
        dying = DyingStore(store, after=calls, last_takes_effect=last_takes_effect)
        try:
            flow(dying)
        except StoreDied:
            pass
        else:
            break
        writer = chain(store, "new", inline_bytes_max=0).claim(deep=True)
        assert writer.head.batch in {*before, before[-1] + 1}
        assert len(chain(store).read(writer.head)) >= len(writer.head.files)
        run(writer, 2)
        chain(store).retain(2)
        assert all(chain(store).validate(c.number).valid for c in chain(store).history())
    else:
        pytest.fail(f"{flow.__name__} never ended within {CALLS_MAX} calls")


def batches(chain: Chain) -> list[int]:
    """The batches that were committed up to now, and none at all."""
    return sorted({c.entry.record.batch for c in chain.history() if c.entry})
