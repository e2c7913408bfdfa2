"""The contract under rivalry: threads that want the same key at the same moment."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

from holdfast.errors import AlreadyExistsError, PreconditionError
from holdfast.objectstore.base import ObjectStore, PutMode
from holdfast.testing.contract_checks import equal, require

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

_WRITERS = 8


def one_of_many_creates_wins(store: ObjectStore) -> None:
    """Threads that create one key at once: one succeeds, all others find it taken."""
    for round_number in range(5):
        key = f"race/{round_number}"

        def create(writer: int, key: str = key) -> int | None:
            try:
                store.put(key, f"{key} by {writer}".encode(), mode=PutMode.CREATE)
            except AlreadyExistsError:
                return None
            return writer

        winners = [writer for writer in _at_once(create) if writer is not None]
        equal(len(winners), 1)
        equal(store.get(key).body, f"{key} by {winners[0]}".encode())


def no_if_match_is_lost(store: ObjectStore) -> None:
    """Threads that count up one object: as many counts as successes."""
    store.put("counter", b"0")

    def count(writer: int) -> int:
        successes = 0
        for _ in range(10):
            now = store.get("counter")
            value = int(now.body.split()[0]) + 1
            try:
                # The writer's name makes the bytes its own, as a nonce does.
                body = f"{value} {writer}".encode()
                store.put("counter", body, mode=PutMode.if_match(now.meta.etag))
            except PreconditionError:
                continue
            successes += 1
        return successes

    successes = sum(_at_once(count))
    equal(int(store.get("counter").body.split()[0]), successes)
    require(successes >= 1, "nobody ever succeeded")


def a_reader_never_sees_half(store: ObjectStore) -> None:
    """While an object is overwritten, every read is one whole version."""
    versions = [bytes([number]) * (64 * 1024 + number) for number in range(2)]
    store.put("a", versions[0])
    done = threading.Event()

    def overwrite() -> None:
        number = 1
        while not done.is_set():
            store.put("a", versions[number % 2])
            number += 1

    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(overwrite)
        try:
            for _ in range(30):
                blob = store.get("a")
                require(blob.body in versions, "a read gave parts of two versions")
                equal(blob.meta.size, len(blob.body))
        finally:
            done.set()
        writing.result()


def _at_once(work: Callable[[int], T]) -> list[T]:
    """The results of many threads that all start at one moment."""
    barrier = threading.Barrier(_WRITERS)

    def run(writer: int) -> T:
        barrier.wait(timeout=30)
        return work(writer)

    with ThreadPoolExecutor(_WRITERS) as pool:
        return list(pool.map(run, range(_WRITERS)))


RIVALRY: tuple[Callable[[ObjectStore], None], ...] = (
    one_of_many_creates_wins,
    no_if_match_is_lost,
    a_reader_never_sees_half,
)
