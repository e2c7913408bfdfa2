"""Retries until a deadline: jittered, and aware that a lost reply may hide a success.

A conditional put that is refused may have been refused because an earlier try of the same put
took effect and its reply was lost, here or in a client library below. So a refusal is resolved
by reading the object back: the very same bytes are our own success. Callers make their bytes
unique with a nonce; two different writers must never send the same body.

Time: an unavailable store is tried again until the deadline of the store (`within`), or for
`RetrySettings.seconds` where it has none. A store that can (S3) also ends a request that is under
way at the deadline. Only the read-back of a conditional put may go on for `READ_BACK_SECONDS`
more, so no call lasts longer than its deadline and these.

Failure: out of time → `UnavailableError`; a write may still have taken effect, or may yet.
A refusal that cannot be read back is `UnavailableError` too: it may have been our own success.
"""

from __future__ import annotations

import logging
import random
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, TypeVar

from holdfast.clock import SYSTEM_CLOCK, Clock, Deadline
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
    within,
)
from holdfast.settings import DOCUMENT_BYTES_MAX, LIST_PAGE_MAX, MIB, RetrySettings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

T = TypeVar("T")

READ_BACK_SECONDS = 5.0
_LAST_TRY_SECONDS = 0.5  # a try that begins later would hardly be answered
_TRANSFER_BYTES_PER_S = MIB  # what a large body may take longer, where no deadline is given
_LOG = logging.getLogger("holdfast")


class RetryingStore:
    """Any store, tried again while it is unavailable.

    With a `deadline` all requests share it; without one each request has its own.
    """

    def __init__(
        self,
        inner: ObjectStore,
        *,
        settings: RetrySettings | None = None,
        clock: Clock = SYSTEM_CLOCK,
        jitter: random.Random | None = None,
        deadline: Deadline | None = None,
    ) -> None:
        self._inner = inner
        self._settings = settings or RetrySettings()
        self._clock = clock
        self._jitter = jitter or random.Random()  # noqa: S311 - spreads load, hides nothing
        self._deadline = deadline

    def around(self, inner: ObjectStore) -> RetryingStore:
        """Another store, tried again in the same way."""
        return RetryingStore(
            inner, settings=self._settings, clock=self._clock, deadline=self._deadline
        )

    def within(self, deadline: Deadline) -> RetryingStore:
        """The same store, every request of which ends by this deadline."""
        return RetryingStore(
            self._inner,
            settings=self._settings,
            clock=self._clock,
            jitter=self._jitter,
            deadline=deadline,
        )

    @property
    def parts(self) -> Parted | None:
        """Uploads in parts, each step tried again; none where the store has none."""
        return None if parted_of(self._inner) is None else _RetryingParts(self)

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
        deadline = self._deadline_now()
        try:
            return self.attempt(
                f"put {key}",
                lambda store: store.put(key, body, mode=mode),
                deadline=deadline,
                size=len(body),
            )
        except (AlreadyExistsError, PreconditionError, UnavailableError) as refusal:
            never_sent = isinstance(refusal, UnavailableError) and not refusal.sent
            if mode.kind == "overwrite" or never_sent:
                raise
            return self._read_back(key, body, mode, refusal, deadline)

    def _read_back(
        self, key: str, body: Body, mode: PutMode, refusal: HoldfastError, deadline: Deadline
    ) -> ObjectMeta:
        """Find out by reading what a refused or unanswered conditional put came to.

        Raises:
            AlreadyExistsError: it was a create, and another's object is there, or was.
            PreconditionError: the object is another version, or absent.
            UnavailableError: it cannot be read, or it tells nothing: the outcome is unknown.
        """
        # A process that was paused for long still finds out.
        grace = deadline.extended(READ_BACK_SECONDS).at_least(READ_BACK_SECONDS)
        length = max(len(body), DOCUMENT_BYTES_MAX) + 1
        try:
            stored = self.attempt(
                f"read back {key}",
                lambda store: store.get(key, length=length),
                deadline=grace,
                size=len(body),
            )
        except NotFoundError:
            if isinstance(refusal, AlreadyExistsError):
                raise AlreadyExistsError(refusal.message, key=key, read_back=True) from refusal
            raise refusal from None
        if stored.body == bytes(body):
            return replace(stored.meta, read_back=True)
        if mode.kind == "create":
            raise AlreadyExistsError(
                "object exists", key=key, read_back=True, stored=stored.body
            ) from refusal
        raise refusal

    def get(self, key: str, *, start: int = 0, length: int | None = None) -> Blob:
        return self.attempt(
            f"get {key}",
            lambda store: store.get(key, start=start, length=length),
            size=length or 0,
        )

    def head(self, key: str) -> ObjectMeta:
        return self.attempt(f"head {key}", lambda store: store.head(key))

    def list(self, prefix: str = "", *, start_after: str = "", limit: int = LIST_PAGE_MAX) -> Page:
        return self.attempt(
            f"list {prefix}",
            lambda store: store.list(prefix, start_after=start_after, limit=limit),
        )

    def delete(self, keys: Iterable[str]) -> None:
        wanted = tuple(keys)
        self.attempt(f"delete {len(wanted)} objects", lambda store: store.delete(wanted))

    def presign(
        self, method: Literal["GET", "PUT"], key: str, *, expires_s: int = 300, sha256: str = ""
    ) -> Presigned:
        return self._inner.presign(method, key, expires_s=expires_s, sha256=sha256)

    def attempt(
        self,
        what: str,
        request: Callable[[ObjectStore], T],
        *,
        deadline: Deadline | None = None,
        size: int = 0,
    ) -> T:
        """Try a request until the store answers it, or the deadline passes.

        `size` is how many bytes it moves: a request without a deadline of its own may take
        longer for a large body once it is under way.

        Raises:
            UnavailableError: out of time or attempts.
        """
        ends = deadline or self._deadline_now()
        allowance_s = size / _TRANSFER_BYTES_PER_S if self._deadline is None else 0.0
        store = within(self._inner, ends.extended(allowance_s))
        ceiling_s, attempts = self._settings.first_delay_s, 0
        if ends.remaining_s() <= 0:
            raise _gave_up(UnavailableError(f"no time is left to {what}", sent=False), ends)
        while True:
            try:
                return request(store)
            except UnavailableError as error:
                attempts += 1
                if attempts == self._settings.attempts_max:
                    raise
                self._wait(what, error, ceiling_s, ends)
                ceiling_s = min(ceiling_s * 2, self._settings.delay_max_s)

    def _wait(self, what: str, error: UnavailableError, ceiling_s: float, ends: Deadline) -> None:
        """Sleep before the next try: full jitter, after what the store asks for.

        Where that is longer than what remains, the last try is made just before the deadline.
        """
        left_s = ends.remaining_s() - _LAST_TRY_SECONDS
        if left_s <= 0:
            raise _gave_up(error, ends) from error
        wait_s = min(error.retry_after_s + self._jitter.uniform(0, ceiling_s), left_s)
        _LOG.warning(
            "%s: %s; trying again in %.1f s, giving up in %.0f s",
            what,
            _cause(error),
            wait_s,
            ends.remaining_s(),
        )
        self._clock.sleep(wait_s)

    def _deadline_now(self) -> Deadline:
        return self._deadline or Deadline.after(self._settings.seconds, clock=self._clock)


class _RetryingParts:
    """A step whose answer was lost and that is done again stays done.

    `begin` is not so: what it began without our knowing has no parts, and a lifecycle rule ends it.
    """

    def __init__(self, store: RetryingStore) -> None:
        self._store = store

    def begin(self, key: str, sha256s: Sequence[str], *, expires_s: int) -> PartedUpload:
        return self._store.attempt(
            f"begin the upload of {key}",
            lambda store: _parted(store).begin(key, sha256s, expires_s=expires_s),
        )

    def renew(self, upload: PartedUpload, *, expires_s: int) -> PartedUpload:
        return _parted(self._store.inner).renew(upload, expires_s=expires_s)

    def finish(self, upload: PartedUpload, etags: Sequence[str]) -> None:
        self._store.attempt(
            f"finish the upload of {upload.key}",
            lambda store: _parted(store).finish(upload, etags),
        )

    def abort(self, upload: PartedUpload) -> None:
        self._store.attempt(
            f"abort the upload of {upload.key}", lambda store: _parted(store).abort(upload)
        )


def _parted(store: ObjectStore) -> Parted:
    found = parted_of(store)
    if found is None:
        raise TypeError("this store takes no object in parts")
    return found


def _gave_up(error: UnavailableError, deadline: Deadline) -> UnavailableError:
    """The last error, with how long was tried and what to set to try for longer."""
    hint = f"raise {deadline.setting} to wait longer" if deadline.setting else ""
    return UnavailableError(
        f"gave up after {deadline.seconds:g} s: {error.message}",
        hint="; ".join(filter(None, (error.hint, hint))),
        retry_after_s=error.retry_after_s,
        sent=error.sent,
        **error.details,
    )


def _cause(error: UnavailableError) -> str:
    """One line for the log: the message, and the store's own code or reason."""
    reason = error.details.get("code") or error.details.get("reason")
    return f"{error.message} ({reason})" if reason else error.message
