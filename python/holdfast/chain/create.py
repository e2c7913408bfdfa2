"""Creating the next number: the one write that decides something.

Every body has a fresh nonce, so the stored object is ours if and only if it is byte for byte
what we sent. That tells a lost reply from a lost race.

Failure: killed before the put takes effect → nothing happened; after it → the number is ours and
the next claim finds it. A store that does not answer → `CommitUnknownError`, never a guess.

Time: the put ends at the context's deadline, and its read-back at most `READ_BACK_SECONDS` later.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from holdfast.errors import (
    AlreadyExistsError,
    CommitUnknownError,
    ConfigError,
    CorruptionError,
    FencedError,
    NotFoundError,
    UnavailableError,
)
from holdfast.manifest.intent import decode_intent
from holdfast.manifest.record import decode_chain_manifest
from holdfast.objectstore import PutMode
from holdfast.settings import DOCUMENT_BYTES_MAX

if TYPE_CHECKING:
    from holdfast.chain.context import Context
    from holdfast.ids import Writer


@dataclass(frozen=True, slots=True, kw_only=True)
class Created:
    """The outcome: ours, or the bytes that had the key before (none if they are gone again)."""

    ours: bool
    etag: str = ""
    read_back: bool = False
    other: bytes | None = None


def create(context: Context, key: str, body: bytes) -> Created:
    """Put the body if nothing has this key, and find out for certain whether it did.

    A store that retries has read the object back before it gives up, so an error of it says all
    that can be known: nothing is read again here.

    Raises:
        CommitUnknownError: the store does not say; the put may yet take effect.
        UnavailableError: no time was left, and nothing was sent.
        ConfigError: the document is larger than readers accept; nothing was sent.
    """
    if len(body) > DOCUMENT_BYTES_MAX:
        raise ConfigError(
            "a document is too large",
            hint="it lists every file of the state: use fewer shuffle partitions",
            key=key,
            size=len(body),
            bytes_max=DOCUMENT_BYTES_MAX,
        )
    try:
        meta = context.store.put(key, body, mode=PutMode.CREATE)
    except AlreadyExistsError as error:
        if error.read_back:
            return Created(ours=False, other=error.stored)
        return _read(context, key, body)
    except UnavailableError as error:
        if not error.sent:
            raise
        raise _unknown(key, error) from error
    return Created(ours=True, etag=meta.etag, read_back=meta.read_back)


def _read(context: Context, key: str, body: bytes) -> Created:
    """What is there, on a store that does not retry and so does not read back."""
    try:
        stored = context.store.get(key)
    except NotFoundError:
        return Created(ours=False)
    except UnavailableError as error:
        raise _unknown(key, error) from error
    if stored.body == body:
        return Created(ours=True, etag=stored.meta.etag, read_back=True)
    return Created(ours=False, other=stored.body)


def _unknown(key: str, cause: UnavailableError) -> CommitUnknownError:
    hint = "start the query again: it reads the store and continues from what is there"
    return CommitUnknownError(
        "the store does not say whether a write took effect",
        hint="; ".join(filter(None, (hint, cause.hint))),
        **{**cause.details, "key": key, "cause": cause.message},
    )


def fenced_by_manifest(context: Context, number: int, body: bytes | None) -> FencedError:
    """The error for a manifest number that someone else has."""
    try:
        entry = decode_chain_manifest(body or b"", number=number, query=context.query)
    except (ConfigError, CorruptionError):
        return fenced(context, number, None, 0)
    return fenced(context, number, entry.record.writer, entry.manifest.timestamp_ms)


def fenced_by_intent(context: Context, number: int, body: bytes | None) -> FencedError:
    """The error for an intent number that someone else has."""
    try:
        intent = decode_intent(body or b"", number=number, query=context.query)
    except (ConfigError, CorruptionError):
        return fenced(context, number, None, 0)
    return fenced(context, number, intent.writer, intent.timestamp_ms)


def fenced(context: Context, number: int, by: Writer | None, at_ms: int) -> FencedError:
    """Names who took the chain over, and when."""
    return FencedError(
        "another writer has taken this query over",
        hint="let only one driver run it: two supervised drivers fence each other for ever",
        query=context.query,
        by=by or "unknown",
        at=_moment(at_ms) if by else "unknown",
        number=number,
    )


def _moment(at_ms: int) -> str:
    """That writer's clock may have been anything."""
    try:
        return datetime.fromtimestamp(at_ms / 1000, tz=timezone.utc).isoformat(timespec="seconds")
    except (OverflowError, OSError, ValueError):
        return f"{at_ms} ms"
