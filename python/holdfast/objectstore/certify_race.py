"""Writers that want the same key at the same moment: threads of this process, and processes."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, wait
from functools import partial
from typing import IO, Literal, TypeAlias, TypeVar, cast

import orjson

from holdfast.errors import AlreadyExistsError, PreconditionError, UnavailableError
from holdfast.objectstore.base import ObjectStore, PutMode, Reopenable
from holdfast.objectstore.metered import MeteredStore
from holdfast.objectstore.retrying import RetryingStore

T = TypeVar("T")
Outcome: TypeAlias = Literal["won", "refused", "unknown"]
Writer: TypeAlias = Callable[[str, str, PutMode], Outcome]

_WORKER = "holdfast.objectstore.certify_worker"
_GOODBYE_S = 0.5


def attempt(store: ObjectStore, key: str, body: str, mode: PutMode) -> Outcome:
    """One conditional put, and whether it took effect."""
    refusal = AlreadyExistsError if mode.kind == "create" else PreconditionError
    try:
        store.put(key, body.encode(), mode=mode)
    except refusal:
        return "refused"
    except UnavailableError:
        return "unknown"
    return "won"


def in_background(call: Callable[[], T]) -> Future[T]:
    """Run on a thread that does not hinder the process from ending, should the store hang."""
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(call())
        except BaseException as error:  # noqa: BLE001 - passed on to whoever waits
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return future


def at_once(calls: Sequence[Callable[[], T]]) -> list[T]:
    """The results of calls that all start at one moment; the first error is raised."""
    barrier = threading.Barrier(len(calls))

    def run(call: Callable[[], T]) -> T:
        barrier.wait()
        return call()

    futures = [in_background(partial(run, call)) for call in calls]
    wait(futures)
    return [future.result() for future in futures]


def reopen_url(store: ObjectStore) -> str | None:
    """What another process opens to reach the same objects; may hold credentials."""
    while isinstance(store, RetryingStore | MeteredStore):
        store = store.inner
    return store.reopen_url() if isinstance(store, Reopenable) else None


class ProcessWriter:
    """A writer in a process of its own; it gets the URL by its standard input, never shown."""

    def __init__(self, url: str) -> None:
        path = os.pathsep.join(entry for entry in sys.path if entry)
        self.process = subprocess.Popen(  # noqa: S603 - our own module by our own interpreter
            [sys.executable, "-m", _WORKER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": path},
        )
        self._stdin = cast("IO[bytes]", self.process.stdin)
        self._stdout = cast("IO[bytes]", self.process.stdout)
        self._greeting = in_background(lambda: self._ask({"url": url}))

    def ready(self, timeout_s: float) -> bool:
        """Whether it has opened the store by now."""
        wait([self._greeting], timeout=max(timeout_s, 0))
        return self._greeting.done() and self._greeting.result() == "ready"

    def __call__(self, key: str, body: str, mode: PutMode) -> Outcome:
        task = {"key": key, "body": body, "kind": mode.kind, "etag": mode.etag}
        answer = self._ask(task)
        return cast("Outcome", answer) if answer in ("won", "refused") else "unknown"

    def _ask(self, task: dict[str, str]) -> str:
        """The worker's answer, or nothing if it is gone."""
        try:
            self._stdin.write(orjson.dumps(task, option=orjson.OPT_APPEND_NEWLINE))
            self._stdin.flush()
            return self._stdout.readline().decode().strip()
        except OSError:
            return ""

    def close(self) -> None:
        """End the process: by the end of its input, or by force if it is still starting."""
        if not self._greeting.done():
            self.process.kill()
        with contextlib.suppress(OSError):
            self._stdin.close()
        try:
            self.process.wait(timeout=_GOODBYE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        wait([self._greeting])
        self._stdout.close()


@contextlib.contextmanager
def process_writers(store: ObjectStore, count: int) -> Iterator[list[ProcessWriter]]:
    """Processes that are opening the same store; none where no other process can open it."""
    url = reopen_url(store)
    writers: list[ProcessWriter] = []
    try:
        if url is not None and sys.executable:
            writers += [ProcessWriter(url) for _ in range(count)]
        yield writers
    finally:
        for writer in writers:
            writer.close()
