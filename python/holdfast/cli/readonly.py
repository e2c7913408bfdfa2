"""A store that cannot be changed: what every look and every dry run gets.

So that they change nothing is not a promise of each command's code.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from holdfast.errors import MisuseError
from holdfast.objectstore import Blob, Body, ObjectMeta, ObjectStore, Page, Presigned, PutMode
from holdfast.settings import LIST_PAGE_MAX

if TYPE_CHECKING:
    from collections.abc import Iterable


class ReadOnlyStore:
    """Reads pass; a put is refused; a delete does nothing but take note of what it would delete."""

    can_presign = False

    def __init__(self, inner: ObjectStore) -> None:
        self._inner = inner
        self.would_delete: list[str] = []

    @property
    def url(self) -> str:
        return self._inner.url

    def put(self, key: str, body: Body, *, mode: PutMode = PutMode.OVERWRITE) -> ObjectMeta:
        del body, mode
        raise MisuseError("a dry run wrote to the store: this is a mistake in holdfast", key=key)

    def get(self, key: str, *, start: int = 0, length: int | None = None) -> Blob:
        return self._inner.get(key, start=start, length=length)

    def head(self, key: str) -> ObjectMeta:
        return self._inner.head(key)

    def list(self, prefix: str = "", *, start_after: str = "", limit: int = LIST_PAGE_MAX) -> Page:
        return self._inner.list(prefix, start_after=start_after, limit=limit)

    def delete(self, keys: Iterable[str]) -> None:
        self.would_delete.extend(keys)

    def presign(
        self, method: Literal["GET", "PUT"], key: str, *, expires_s: int = 300, sha256: str = ""
    ) -> Presigned:
        return self._inner.presign(method, key, expires_s=expires_s, sha256=sha256)
