"""The hint `latest.json`: moves only forward, may lag, and nothing depends on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from holdfast.errors import (
    AlreadyExistsError,
    CorruptionError,
    NotFoundError,
    PreconditionError,
    UnavailableError,
)
from holdfast.manifest.fields import parse_object
from holdfast.objectstore import PutMode

if TYPE_CHECKING:
    from holdfast.chain.context import Context

_ATTEMPTS_MAX = 5


class HintKeeper:
    """Writes the hint with one request while no one else does."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._etag = ""

    def move_to(self, number: int) -> None:
        """Name this number, unless a higher one is named already.

        Raises:
            StoreError, UnavailableError: the hint stays where it was.
        """
        body = orjson.dumps({"checkpoint_id": number})
        key = self._context.keys.latest
        for _ in range(_ATTEMPTS_MAX):
            mode = PutMode.if_match(self._etag) if self._etag else PutMode.CREATE
            try:
                self._etag = self._context.store.put(key, body, mode=mode).etag
            except (AlreadyExistsError, PreconditionError):
                if self._read() >= number:
                    return
            else:
                return
        raise UnavailableError("the hint changes faster than it can be written", key=key)

    def _read(self) -> int:
        """The number it names; one that is unreadable may be replaced, for it is only a hint."""
        number, self._etag = _read(self._context)
        return number


def read_hint(context: Context) -> int:
    """The number that it names; 0 if there is none, or it cannot be read."""
    return _read(context)[0]


def _read(context: Context) -> tuple[int, str]:
    """The number, and the version that says so."""
    try:
        blob = context.store.get(context.keys.latest)
    except NotFoundError:
        return 0, ""
    try:
        return parse_object(blob.body, "hint").integer("checkpoint_id"), blob.meta.etag
    except CorruptionError:
        return 0, blob.meta.etag
