"""Retries: bounded, jittered, and aware that a lost reply may hide a success.

A conditional put that is refused may have been refused because an earlier try of the same put
took effect and its reply was lost, here or in a client library below. So a refusal is resolved
by reading the object back: the very same bytes are our own success. Callers make their bytes
unique with a nonce; two different writers must never send the same body.

Failure: out of attempts → `UnavailableError`; a write may still have taken effect, or may yet.
A refusal that cannot be read back is `UnavailableError` too: it may have been our own success.
"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, TypeVar

from holdfast.clock import SYSTEM_CLOCK, Clock
from holdfast.errors import (
    AlreadyExistsError,
    HoldfastError,
    NotFoundError,
    PreconditionError,
    UnavailableError,
)
from holdfast.objectstore.base import (
    Blob,
    Body,
    ObjectMeta,
    ObjectStore,
    Page,
    Parted,
    PartedUpload,
    Presigned,
    PutMode,
    parted_of,
)
from holdfast.settings import LIST_PAGE_MAX, RetrySettings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

T = TypeVar("T")


class RetryingStore:
    """Any store, tried again while it is unavailable."""

    def __init__(
        self,
        inner: ObjectStore,
        *,
        settings: RetrySettings | None = None,
        clock: Clock = SYSTEM_CLOCK,
        jitter: random.Random | None = None,
    ) -> None:
        self._inner = inner
        self._settings = settings or RetrySettings()
        self._clock = clock
        self._again = _Tries(
            self._settings,
            clock,
            jitter or random.Random(),  # noqa: S311 - spreads load, hides nothing
        )

    def around(self, inner: ObjectStore) -> RetryingStore:
        """Another store, tried again in the same way."""
        return RetryingStore(inner, settings=self._settings, clock=self._clock)

    @property
    def parts(self) -> Parted | None:
        """Uploads in parts, each step tried again; none where the store has none."""
        found = parted_of(self._inner)
        return None if found is None else _RetryingParts(found, self._again)

    @property
    def url(self) -> str:
        return self._inner.url

    @property
    def can_presign(self) -> bool:
        return self._inner.can_presign

    @property
    def inner(self) -> ObjectStore:
        return self._inner

    def put(self, key: str, body: Body, *, mode: PutMode = PutMode.OVERWRITE) -> ObjectMeta:
        try:
            return self._again(lambda: self._inner.put(key, body, mode=mode))
        except (AlreadyExistsError, PreconditionError, UnavailableError) as refusal:
            if mode.kind == "overwrite":
                raise
            return self._resolved(key, body, mode, refusal)

    def _resolved(self, key: str, body: Body, mode: PutMode, refusal: HoldfastError) -> ObjectMeta:
        """What a refused or unanswered conditional put came to, by reading the object back.

        Raises:
            UnavailableError: it cannot be read, or it tells nothing: the outcome is unknown.
        """
        try:
            stored = self.get(key)
        except NotFoundError:
            raise refusal from None
        if stored.body == bytes(body):
            return replace(stored.meta, read_back=True)
        if mode.kind == "create":
            raise AlreadyExistsError("object exists", key=key) from refusal
        raise refusal

    def get(self, key: str, *, start: int = 0, length: int | None = None) -> Blob:
        return self._again(lambda: self._inner.get(key, start=start, length=length))

    def head(self, key: str) -> ObjectMeta:
        return self._again(lambda: self._inner.head(key))

    def list(self, prefix: str = "", *, start_after: str = "", limit: int = LIST_PAGE_MAX) -> Page:
        return self._again(lambda: self._inner.list(prefix, start_after=start_after, limit=limit))

    def delete(self, keys: Iterable[str]) -> None:
        wanted = tuple(keys)
        self._again(lambda: self._inner.delete(wanted))

    def presign(
        self, method: Literal["GET", "PUT"], key: str, *, expires_s: int = 300, sha256: str = ""
    ) -> Presigned:
        return self._inner.presign(method, key, expires_s=expires_s, sha256=sha256)


class _RetryingParts:
    """A step whose answer was lost and that is done again stays done.

    `begin` is not so: what it began without our knowing has no parts, and a lifecycle rule ends it.
    """

    def __init__(self, inner: Parted, again: _Tries) -> None:
        self._inner = inner
        self._again = again

    def begin(self, key: str, sha256s: Sequence[str], *, expires_s: int) -> PartedUpload:
        return self._again(lambda: self._inner.begin(key, sha256s, expires_s=expires_s))

    def renew(self, upload: PartedUpload, *, expires_s: int) -> PartedUpload:
        return self._inner.renew(upload, expires_s=expires_s)

    def finish(self, upload: PartedUpload, etags: Sequence[str]) -> None:
        self._again(lambda: self._inner.finish(upload, etags))

    def abort(self, upload: PartedUpload) -> None:
        self._again(lambda: self._inner.abort(upload))


class _Tries:
    """How often, and after which waits."""

    def __init__(self, settings: RetrySettings, clock: Clock, jitter: random.Random) -> None:
        self._settings = settings
        self._clock = clock
        self._jitter = jitter

    def __call__(self, request: Callable[[], T]) -> T:
        """Full jitter: each wait is random below a ceiling that doubles."""
        ceiling = self._settings.first_delay_s
        for _ in range(self._settings.attempts_max - 1):
            try:
                return request()
            except UnavailableError:
                self._clock.sleep(self._jitter.uniform(0, ceiling))
                ceiling = min(ceiling * 2, self._settings.delay_max_s)
        return request()
