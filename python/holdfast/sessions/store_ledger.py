"""Source checkpoints on an object store: one small numbered document per change.

Invariants
- The newest number is the state, whole: every change is one create-only put of the next number.
- A writer goes on from the number that it read or wrote last, never from a later one, so a second
  writer finds its number taken and is fenced.
- Old numbers are deleted, and a writer asleep since then could create one of them again. So a
  create counts only if a listing after it shows no greater number; the newest is never deleted.
- The newest document is the state even if it is unreadable: never the older one, never none.

Failure
- Killed before the put took effect → the old state; after it → the new one. Nothing in between.
- No reply → read back: our nonce is our success, another's fences us, none is unknown.
- A put of ours that lands after it was given up is overwritten by this writer's next change.
- Old documents that cannot be deleted stay until a later change; the change itself succeeded.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from holdfast.clock import SYSTEM_CLOCK, Clock
from holdfast.errors import (
    AlreadyExistsError,
    CommitUnknownError,
    ConfigError,
    CorruptionError,
    FencedError,
    NotFoundError,
    StoreError,
    UnavailableError,
)
from holdfast.ids import Nonces, Writer, random_nonce
from holdfast.layout import Keys, Kind
from holdfast.objectstore import ObjectStore, PutMode, scan
from holdfast.sessions.document import DOCUMENT_BYTES_MAX, Document
from holdfast.sessions.state import EMPTY, SourceState

if TYPE_CHECKING:
    from collections.abc import Mapping

_LOG = logging.getLogger(__name__)
_RELIST_MAX = 5


class StoreLedger:
    """The documents under `<prefix>sources/`; a change costs one put and one list.

    `retain` documents are kept, and up to as many more until a delete is worth its request.
    """

    is_persistent = True

    def __init__(
        self,
        store: ObjectStore,
        prefix: str = "",
        *,
        retain: int = 8,
        writer: Writer | None = None,
        clock: Clock = SYSTEM_CLOCK,
        nonces: Nonces = random_nonce,
    ) -> None:
        if retain < 1:
            raise ConfigError("at least the newest document is retained", retain=retain)
        self._store = store
        self._keys = Keys.under(prefix)
        self._retain = retain
        self._writer = writer or Writer.here()
        self._clock = clock
        self._nonces = nonces
        self._number: int | None = None
        self._state: SourceState | None = None
        self._unsettled: set[str] = set()

    def read(self) -> SourceState:
        return _readable(self._newest()[1])

    def head(self) -> SourceState:
        if self._state is None:
            self._number, found = self._newest()
            self._state = _readable(found)
        return self._state

    def forget(self) -> None:
        self._number = self._state = None

    def write(self, state: SourceState) -> None:
        if self._number is None:
            self._number, _ = self._newest()
        while not self._create(self._number + 1, state):
            self._number += 1  # Taken by a put of ours that was given up; there are few of those.
        present = self._confirm(self._number + 1)
        self._number, self._state = self._number + 1, state
        self._unsettled.clear()
        self._prune(present, self._number, 1 if state.is_empty else self._retain)

    def _newest(self) -> tuple[int, SourceState | CorruptionError]:
        """The newest number, and its state or why that cannot be read."""
        for _ in range(_RELIST_MAX):
            sizes = self._sizes()
            if not sizes:
                return 0, EMPTY
            number = max(sizes)
            if sizes[number] > DOCUMENT_BYTES_MAX:
                return number, _unreadable(number, "too big")
            try:
                return number, self._fetch(number).state
            except NotFoundError:
                continue  # so many changes since the listing that this one is pruned
            except CorruptionError as error:
                return number, _unreadable(number, error)
        raise UnavailableError("source checkpoints change faster than they can be read")

    def _sizes(self) -> dict[int, int]:
        """The bytes of every document, by number."""
        found: dict[int, int] = {}
        for meta in scan(self._store, self._keys.sources):
            parsed = self._keys.parse(meta.key)
            if parsed is not None and parsed.kind is Kind.SOURCES and parsed.number > 0:
                found[parsed.number] = meta.size
        return found

    def _fetch(self, number: int) -> Document:
        return Document.decode(self._store.get(self._keys.source_commit(number)).body, number)

    def _create(self, number: int, state: SourceState) -> bool:
        """Whether this number is now ours with this state; false if an earlier try has it."""
        document = Document(
            number=number,
            nonce=self._nonces(),
            writer=self._writer,
            written_ms=self._clock.now_ms(),
            state=state,
        )
        body = document.encode()
        self._unsettled.add(document.nonce)
        try:
            self._store.put(self._keys.source_commit(number), body, mode=PutMode.CREATE)
        except (AlreadyExistsError, UnavailableError) as error:
            found = self._read_back(number, error)
            if found.nonce not in self._unsettled:
                raise _fenced(number, found) from error
            return found.nonce == document.nonce
        return True

    def _read_back(self, number: int, cause: Exception) -> Document:
        try:
            return self._fetch(number)
        except NotFoundError as error:
            if isinstance(cause, UnavailableError):
                raise _unknown(number) from cause
            raise _fenced(number, None) from error
        except UnavailableError as error:
            raise _unknown(number) from error

    def _confirm(self, number: int) -> Mapping[int, int]:
        """All documents, of which ours must be the newest."""
        try:
            present = self._sizes()
        except UnavailableError as error:
            raise _unknown(number) from error
        newest = max(present, default=number)
        if newest > number:
            raise _fenced(newest, self._name(newest))
        return present

    def _name(self, number: int) -> Document | None:
        """Who overtook us, if that can still be read."""
        try:
            return self._fetch(number)
        except (NotFoundError, CorruptionError, ConfigError, UnavailableError):
            return None

    def _prune(self, present: Mapping[int, int], newest: int, retain: int) -> None:
        old = sorted(number for number in present if number <= newest - retain)
        if len(old) < retain:
            return
        try:
            self._store.delete(self._keys.source_commit(number) for number in old)
        except (StoreError, UnavailableError) as error:
            _LOG.warning("old source checkpoints stay until a later change: %s", error)


def _readable(found: SourceState | CorruptionError) -> SourceState:
    if isinstance(found, CorruptionError):
        raise found
    return found


def _unreadable(number: int, reason: object) -> CorruptionError:
    return CorruptionError(
        "the newest source checkpoints are unreadable",
        hint="restore the object, or start with policy auto-reset, which starts anew",
        number=number,
        reason=reason,
    )


def _unknown(number: int) -> CommitUnknownError:
    return CommitUnknownError(
        "source checkpoints may or may not have been written",
        hint="commit again; roll back only after reading that they were not",
        number=number,
    )


def _fenced(number: int, other: Document | None) -> FencedError:
    return FencedError(
        "another writer has changed these source checkpoints",
        hint="stop this one; two supervised drivers on one query fence each other for ever",
        number=number,
        writer=other.writer if other else "unknown",
        written_ms=other.written_ms if other else "unknown",
    )
