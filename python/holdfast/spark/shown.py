"""A checkpoint as Spark is shown it: a catalog of all files, and the bytes of those it opens.

Bytes that are inside manifests are given to the JVM at once; packs are fetched when they are
needed, each once, and a large file is read over a ticket of its own.
"""

from __future__ import annotations

import threading
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.errors import NotFoundError
from holdfast.pack import decode_batch

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.chain import Chain, Head
    from holdfast.manifest import ObjectRef
    from holdfast.manifest.files import FileEntry
    from holdfast.spark.spool import SpoolDirectory

CATALOG = "catalog"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """Files that are in the spool now: a segment, and each one's path, time and offset."""

    segment: str
    files: tuple[tuple[str, int, int], ...]


class Shown:
    """What one head shows, in one directory of the spool. Any thread may call it."""

    def __init__(self, chain: Chain, head: Callable[[], Head], spool: SpoolDirectory) -> None:
        self._chain = chain
        self._head = head
        self._spool = spool
        self._lock = threading.Lock()
        self._brought: dict[ObjectRef, Future[Fetched]] = {}

    def write_catalog(self) -> str:
        """Write down every visible file, and the segment with those that need no request."""
        head = self._head()
        visible = head.visible()
        bodies = head.carried()
        segment, places = "", {}
        if bodies:
            segment, offsets = self._spool.write_segment(bodies.values())
            places = dict(zip(bodies, offsets, strict=True))
        self._spool.write_text(
            CATALOG,
            "".join(
                f"{path}\t{file.size}\t{file.mtime_ms}\t{places.get(path, -1)}\n"
                for path, file in visible.items()
            ),
        )
        return segment

    def entry(self, path: str) -> FileEntry:
        """The visible file with this path.

        Raises:
            NotFoundError: there is none.
        """
        head = self._head()
        plan = head.shown_plan
        planned = next((file for file in plan.files if file.path == path), None) if plan else None
        found = planned or head.files.get(path)
        if found is None:
            raise NotFoundError("no such file", query=self._chain.context.query, path=path)
        return found

    def fetch(self, ref: ObjectRef) -> Fetched:
        """Bring all files of one pack into the spool, once for all who want it.

        Raises:
            CorruptionError: it is missing, or not what was written.
            UnavailableError, StoreError: the store does not give it.
        """
        return self._asked(ref).result()

    def prefetch(self, ref: ObjectRef) -> None:
        """Bring a pack in ahead.

        An error goes to who waits for it now. Whoever asks later tries again: by then the store
        may be well.
        """
        self._asked(ref)

    def _asked(self, ref: ObjectRef) -> Future[Fetched]:
        """The answer that is there or under way; where there is none, it is made now."""
        with self._lock:
            known = self._brought.get(ref)
            if known is not None and not self._is_over(ref, known):
                return known
            future = self._brought[ref] = Future()
        try:
            future.set_result(self._bring(ref))
        except BaseException as error:  # noqa: BLE001 - handed to who waits
            with self._lock:
                del self._brought[ref]
            future.set_exception(error)
        return future

    def _is_over(self, ref: ObjectRef, future: Future[Fetched]) -> bool:
        """Whether an answer is of no use: the JVM has dropped the segment since, for want of room.

        What is inside a manifest is taken out of it again: the answer may be older than its commit.
        """
        if not future.done():
            return False
        return ref.kind == "inline" or not self._spool.has(future.result().segment)

    def _bring(self, ref: ObjectRef) -> Fetched:
        head = self._head()
        is_inline = ref.kind == "inline"
        bodies = head.carried() if is_inline else dict(decode_batch(self._chain.read_object(ref)))
        # Each file is looked up once: a commit may replace it while this runs.
        visible = head.visible()
        found = {path: visible.get(path) for path in bodies}
        live = {path: file for path, file in found.items() if file and file.ref == ref}
        segment, offsets = self._spool.write_segment([bodies[path] for path in live])
        return Fetched(
            segment=segment,
            files=tuple(
                (path, file.mtime_ms, offset)
                for (path, file), offset in zip(live.items(), offsets, strict=True)
            ),
        )
