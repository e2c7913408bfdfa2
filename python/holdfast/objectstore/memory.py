"""The store in this process's memory: for tests, the model checker and trying things out."""

from __future__ import annotations

import hashlib
import threading
from bisect import bisect_left, bisect_right, insort
from typing import TYPE_CHECKING, Literal

from holdfast.clock import SYSTEM_CLOCK, Clock
from holdfast.errors import AlreadyExistsError, NotFoundError, PreconditionError, UnsupportedError
from holdfast.objectstore.base import Blob, Body, ObjectMeta, Page, Presigned, PutMode, check_key
from holdfast.settings import LIST_PAGE_MAX

if TYPE_CHECKING:
    from collections.abc import Iterable


class MemoryStore:
    """Objects in a dictionary; gone with the process."""

    url = "memory:"
    can_presign = False

    def __init__(self, *, clock: Clock = SYSTEM_CLOCK) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._blobs: dict[str, Blob] = {}
        self._keys: list[str] = []

    def put(self, key: str, body: Body, *, mode: PutMode = PutMode.OVERWRITE) -> ObjectMeta:
        check_key(key)
        data = bytes(body)
        etag = hashlib.blake2b(data, digest_size=16).hexdigest()
        meta = ObjectMeta(key=key, size=len(data), etag=etag, modified_ms=self._clock.now_ms())
        with self._lock:
            current = self._blobs.get(key)
            if mode.kind == "create" and current is not None:
                raise AlreadyExistsError("object exists", key=key)
            if mode.kind == "if-match" and (current is None or current.meta.etag != mode.etag):
                raise PreconditionError("object is another version", key=key)
            if current is None:
                insort(self._keys, key)
            self._blobs[key] = Blob(body=data, meta=meta)
        return meta

    def get(self, key: str, *, start: int = 0, length: int | None = None) -> Blob:
        blob = self._blobs.get(key)
        if blob is None:
            raise NotFoundError("no such object", key=key)
        if start == 0 and length is None:
            return blob
        stop = None if length is None else start + length
        return Blob(body=blob.body[start:stop], meta=blob.meta)

    def head(self, key: str) -> ObjectMeta:
        return self.get(key).meta

    def list(self, prefix: str = "", *, start_after: str = "", limit: int = LIST_PAGE_MAX) -> Page:
        with self._lock:
            first = bisect_left(self._keys, prefix)
            if start_after >= prefix:
                first = max(first, bisect_right(self._keys, start_after))
            found: list[ObjectMeta] = []
            for key in self._keys[first : first + limit + 1]:
                if not key.startswith(prefix):
                    break
                found.append(self._blobs[key].meta)
        return Page(objects=tuple(found[:limit]), more=len(found) > limit)

    def delete(self, keys: Iterable[str]) -> None:
        with self._lock:
            for key in keys:
                if self._blobs.pop(key, None) is not None:
                    del self._keys[bisect_left(self._keys, key)]

    def presign(
        self, method: Literal["GET", "PUT"], key: str, *, expires_s: int = 300, sha256: str = ""
    ) -> Presigned:
        del method, expires_s, sha256
        raise UnsupportedError("a memory store cannot presign", key=key)
