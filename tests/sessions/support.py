"""What the session tests share: backends, committing in a line, and deaths at every call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.errors import HoldfastError
from holdfast.ids import Writer
from holdfast.objectstore import LocalStore, MemoryStore, ObjectStore
from holdfast.sessions import SourceCheckpoints, SourceState, StoreLedger
from holdfast.testing.faults import DyingStore, ManualClock, StoreDied

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

WRITER = Writer(host="host", application="test", pid=7, user="user")
OTHER = Writer(host="elsewhere", application="test", pid=8, user="user")


def on_store(
    store: ObjectStore,
    *,
    retain: int = 8,
    writer: Writer = WRITER,
    clock: ManualClock | None = None,
) -> SourceCheckpoints:
    """A new instance, as a new process would make it."""
    ledger = StoreLedger(store, "query", retain=retain, writer=writer, clock=clock or ManualClock())
    return SourceCheckpoints(ledger=ledger)


def backend(name: str, directory: Path) -> SourceCheckpoints:
    if name == "volatile":
        return SourceCheckpoints()
    return on_store(MemoryStore() if name == "memory" else LocalStore(directory))


def commit(checkpoints: SourceCheckpoints, **sequences: int) -> None:
    """One session; each source's position says its sequence."""
    with checkpoints.session():
        for source, sequence in sequences.items():
            checkpoints.stage_checkpoint(source, sequence, str(sequence).encode())


def sequences(checkpoints: SourceCheckpoints) -> dict[str, int]:
    return {name: each.sequence for name, each in checkpoints.read_all_checkpoints().items()}


def state(store: ObjectStore) -> SourceState:
    return StoreLedger(store, "query").read()


def documents(store: ObjectStore) -> list[str]:
    return [meta.key for meta in store.list("query/sources/").objects]


def after_each_death(
    prepare: Callable[[ObjectStore], None], flow: Callable[[ObjectStore], None]
) -> Iterator[MemoryStore]:
    """The store that is left when the flow dies at each of its calls, before and after its effect.

    The last one that is yielded is that of the flow which was not killed.
    """
    calls, survived = 0, False
    while not survived:
        for takes_effect in (False, True):
            store = MemoryStore()
            prepare(store)
            try:
                flow(DyingStore(store, after=calls, last_takes_effect=takes_effect))
                survived = True
            except StoreDied:
                pass
            yield store
        calls += 1


def error_of(action: Callable[[], object]) -> HoldfastError | None:
    try:
        action()
    except HoldfastError as error:
        return error
    return None
