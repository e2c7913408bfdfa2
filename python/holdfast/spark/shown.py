"""A checkpoint as Spark is shown it: a catalog of all files, and the bytes of those it opens.

Bytes that are inside manifests are given to the JVM at once. Packs that a start needs are fetched
and hashed before its claim, others when they are opened, each once. A large file is read over a
presigned URL of its own.
"""

from __future__ import annotations

import threading
from concurrent.futures import Future
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from holdfast.errors import NotFoundError
from holdfast.objectstore.parallel import gather
from holdfast.pack import decode_batch
from holdfast.sparkfiles.paths import needed_at_start

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


class Prefetch:
    """The packs that a start's tasks read first, fetched and hashed while the claim is made.

    So a damaged pack is found at the start, which then goes back to an older checkpoint.
    """

    def __init__(self, chain: Chain, bytes_max: int) -> None:
        self._chain = chain
        self._bytes_max = bytes_max
        self.bodies: dict[ObjectRef, bytes] = {}

    def verify(self, head: Head) -> None:
        """Fetch the packs of a head that a claim is about to take.

        Raises:
            CorruptionError: one is missing, or not what was written.
            UnavailableError, StoreError: the store does not give it.
        """
        wanted = [ref for ref in self._packs(head) if ref not in self.bodies]
        parallel = self._chain.context.settings.parallel
        found = gather(self._chain.read_object, wanted, parallel=parallel)
        self.bodies.update(zip(wanted, found, strict=True))

    def _packs(self, head: Head) -> list[ObjectRef]:
        """The newest first, as far as the budget goes."""
        needed = needed_at_start(head.files)
        refs = {
            file.ref
            for path, file in head.files.items()
            if path in needed and file.ref is not None and file.ref.kind == "pack"
        }
        newest_first = sorted(refs, key=lambda ref: ref.key, reverse=True)
        totals = accumulate(ref.size for ref in newest_first)
        pairs = zip(newest_first, totals, strict=True)
        return [ref for ref, total in pairs if total <= self._bytes_max]


class Shown:
    """What one head shows, in one directory of the spool. Any thread may call it.

    `fetched` are packs that are in memory already; each is dropped once it is in the spool.
    """

    def __init__(
        self,
        chain: Chain,
        head: Callable[[], Head],
        spool: SpoolDirectory,
        fetched: dict[ObjectRef, bytes] | None = None,
    ) -> None:
        self._chain = chain
        self._head = head
        self._spool = spool
        self._fetched = fetched if fetched is not None else {}
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
        bodies = head.carried() if is_inline else dict(decode_batch(self._read(ref)))
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

    def _read(self, ref: ObjectRef) -> bytes:
        body = self._fetched.pop(ref, None)
        return self._chain.read_object(ref) if body is None else body
