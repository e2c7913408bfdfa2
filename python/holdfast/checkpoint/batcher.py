"""Many small state blobs in few objects: the stand-alone batcher.

An epoch's first batch is `batch-<epoch>.lz4`; each further one is a part of its own, so no flush
ever overwrites another, whoever made it. A reader takes the parts in order, and the last entry
of a key wins.

Threads: any thread may call anything. Flushes run one after the other; what is added while one
runs stays for the next.

Failure: a flush that raises has kept the buffer. Flushing again writes the same entries: under
the same key where the first put took effect and only its reply was lost, else under the next
free part.
"""

from __future__ import annotations

import hashlib
import threading
from typing import TYPE_CHECKING, NamedTuple

from holdfast.checkpoint.metrics import BatchMetrics
from holdfast.errors import (
    AlreadyExistsError,
    ConfigError,
    MisuseError,
    NotFoundError,
    UnavailableError,
)
from holdfast.layout import Keys
from holdfast.objectstore import ObjectStore, PutMode, check_key, scan
from holdfast.pack import encode_batch
from holdfast.pack.lcb1 import BODY_BYTES_MAX, ENTRIES_MAX
from holdfast.settings import BATCH_FLUSH_BYTES, PUT_BYTES_MAX

if TYPE_CHECKING:
    from typing_extensions import Buffer

PUT_ATTEMPTS_MAX = 64
_ENTRY_OVERHEAD = 8  # two lengths of 32 bits


class _Part(NamedTuple):
    epoch: int
    part: int


class _Put(NamedTuple):
    at: _Part
    digest: bytes


class CheckpointBatcher:
    """Buffers (key, data) entries and writes them as one LZ4 object per flush."""

    def __init__(
        self, store: ObjectStore, prefix: str = "", flush_threshold: int | None = None
    ) -> None:
        """Nothing is written yet; the default threshold is 8 MiB.

        Raises:
            ConfigError: a prefix that no store can hold, or a threshold below 0.
        """
        self._threshold = BATCH_FLUSH_BYTES if flush_threshold is None else flush_threshold
        if self._threshold < 0:
            raise ConfigError("a flush threshold is not negative", flush_threshold=flush_threshold)
        self._store = store
        self._keys = Keys.under(prefix)
        check_key(self._keys.batch(0))
        self._lock = threading.Lock()
        self._flushing = threading.Lock()
        self._entries: list[tuple[str, bytes]] = []
        self._size = 0
        self._metrics = BatchMetrics()
        self._next: _Part | None = None  # the part after our own last one
        self._unknown: _Put | None = None  # a put whose reply was lost

    def add(self, key: str, data: Buffer) -> None:
        """Buffer one entry; a key may come twice, and both are kept, in order. Never flushes.

        Raises:
            ConfigError: the key is not valid Unicode.
            MisuseError: the buffer is full, at 1 GiB or 2^20 entries; flush first.
        """
        blob = bytes(data)
        size = _key_size(key) + len(blob) + _ENTRY_OVERHEAD
        with self._lock:
            if self._size + size > BODY_BYTES_MAX or len(self._entries) == ENTRIES_MAX:
                raise MisuseError(
                    "the batch is full",
                    hint="call flush(epoch) when should_flush() says so",
                    buffer_size=self._size,
                )
            self._entries.append((key, blob))
            self._size += size

    def should_flush(self) -> bool:
        """Whether the buffer has reached the threshold."""
        return self._size >= self._threshold

    def buffer_size(self) -> int:
        """Bytes of the uncompressed body that a flush would write now."""
        return self._size

    def __len__(self) -> int:
        return len(self._entries)

    def is_empty(self) -> bool:
        return not self._entries

    def metrics(self) -> BatchMetrics:
        """The shared handle; `snapshot()` gives the numbers."""
        return self._metrics

    def flush(self, epoch: int) -> str | None:
        """Write what is buffered as one object, and forget it once it is durable.

        Costs one put, and one list at the first flush of an epoch. An empty buffer costs nothing.

        Returns:
            The object's key, or nothing if the buffer was empty.

        Raises:
            AlreadyExistsError: other writers took 64 parts of this epoch in a row.
            UnavailableError: the put may have taken effect; the buffer is kept either way.
        """
        with self._flushing:
            with self._lock:
                entries, size = list(self._entries), self._size
            if not entries:
                return None
            body = encode_batch(entries)
            at, puts = self._put(epoch, body)
            self._next, self._unknown = _Part(epoch, at.part + 1), None
            with self._lock:
                del self._entries[: len(entries)]
                self._size -= size
            self._metrics.record_flush(
                entries=len(entries), before=size, after=len(body), puts=puts
            )
            return self._keys.batch(*at)

    def _put(self, epoch: int, body: bytes) -> tuple[_Part, int]:
        """Where the body is now, and how many puts that took."""
        digest = hashlib.sha256(body).digest()
        landed = self._landed(epoch, digest)
        if landed is not None:
            return landed, 1
        first = self._first_part(epoch)
        for part in range(first, first + PUT_ATTEMPTS_MAX):
            at = _Part(epoch, part)
            try:
                self._store.put(self._keys.batch(*at), body, mode=PutMode.CREATE)
            except AlreadyExistsError:
                continue
            except UnavailableError:
                self._unknown = _Put(at, digest)
                raise
            return at, part - first + 1
        raise AlreadyExistsError(
            "other writers keep taking the parts of this epoch",
            hint="give each writer a prefix of its own",
            epoch=epoch,
            attempts=PUT_ATTEMPTS_MAX,
        )

    def _landed(self, epoch: int, digest: bytes) -> _Part | None:
        """Where the same body already is, if an earlier put of it took effect after all."""
        unknown = self._unknown
        if unknown is None or unknown.at.epoch != epoch or unknown.digest != digest:
            return None
        try:
            key = self._keys.batch(*unknown.at)
            stored = self._store.get(key, length=PUT_BYTES_MAX).body
        except NotFoundError:
            return None
        return unknown.at if hashlib.sha256(stored).digest() == digest else None

    def _first_part(self, epoch: int) -> int:
        # Behind every part that is there: a retrying store takes an object with the very same
        # bytes for its own put, and the same blob may well be flushed twice.
        if self._next is not None and self._next.epoch == epoch:
            return self._next.part
        parsed = (
            self._keys.parse(meta.key) for meta in scan(self._store, self._keys.batches(epoch))
        )
        return max((found.part + 1 for found in parsed if found is not None), default=0)


def _key_size(key: str) -> int:
    try:
        return len(key.encode())
    except UnicodeEncodeError as error:
        raise ConfigError("a key is not valid Unicode", key=ascii(key[:80])) from error
