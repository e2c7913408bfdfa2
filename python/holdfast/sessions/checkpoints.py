"""Source checkpoints: staged in sessions, committed together, read as committed.

Invariants
- What a session staged becomes visible as one step, or not at all.
- Reads give committed values only, inside a session too, and from any thread.
- A sequence never goes back unless told to: a source whose counter began anew would have its
  events taken for duplicates. `rewind=True` says that it is meant.
- A missing position never deletes a stored one; `CLEAR` does.

Failure
- A commit that raises leaves the session open, with all that was staged: commit again, or roll
  back. `with session()` leaves it so too, and until then the next begin is refused.
- `CommitUnknownError`: it may be on the store. Committing again is always safe; after a rollback
  a reader may see it until this writer's next change replaces it.
- `FencedError`: another writer has gone on. Stop; only a new start may take over.
"""

from __future__ import annotations

import contextlib
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from holdfast.errors import ConfigError, MisuseError
from holdfast.sessions.confighash import canonical
from holdfast.sessions.ledger import Ledger, MemoryLedger
from holdfast.sessions.nesting import Nesting
from holdfast.sessions.staging import StagedPosition, stage
from holdfast.sessions.state import (
    EMPTY,
    ResumePoint,
    SourceCheckpoint,
    SourceState,
    resume_point,
)
from holdfast.sessions.store_ledger import StoreLedger

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from holdfast.objectstore import ObjectStore


class SourceCheckpoints:
    """Where the sources of one query stand, and the hash of the configuration they belong to.

    Without a store they live in this process and are gone with it. One instance per query; all
    methods may be called from any thread, but a session is used by the one that opened it.
    """

    def __init__(
        self, store: ObjectStore | None = None, prefix: str = "", *, ledger: Ledger | None = None
    ) -> None:
        if ledger is None:
            ledger = MemoryLedger() if store is None else StoreLedger(store, prefix)
        elif store is not None:
            raise ConfigError("give a store or a ledger, not both")
        self._ledger = ledger
        self._lock = threading.RLock()
        self._nesting = Nesting()
        self._staged: dict[str, SourceCheckpoint] = {}

    @property
    def is_persistent(self) -> bool:
        """Whether checkpoints outlive the process, so that sources can resume from them."""
        return self._ledger.is_persistent

    @property
    def depth(self) -> int:
        """How many sessions are open, one inside the other."""
        return self._nesting.depth

    def begin(self) -> None:
        """Open a session, or go one deeper in the open one.

        Raises:
            MisuseError: another thread's session is open, or one whose commit failed.
            CorruptionError: what is committed cannot be read.
        """
        with self._lock:
            self._ledger.head()
            self._nesting.begin()

    def commit(self) -> None:
        """End the innermost session; the outermost commit writes all that was staged.

        With nothing staged it writes nothing.

        Raises:
            MisuseError: no session is open, or it was rolled back further in.
            FencedError: another writer has gone on.
            CommitUnknownError: it may have been written; commit again.
        """
        with self._lock:
            if not self._nesting.leave():
                return
            if self._staged:
                head = self._ledger.head()
                self._ledger.write(replace(head, sources={**head.sources, **self._staged}))
            self._close()

    def rollback(self) -> None:
        """Discard the whole session, however deep; without one, nothing happens."""
        with self._lock:
            self._close()

    @contextlib.contextmanager
    def session(self) -> Iterator[SourceCheckpoints]:
        """Commit at the end of the block; roll back if the block raises.

        If the commit itself raises, the session stays open: `commit()` again or `rollback()`.
        If an inner block rolled back, the outer one raises `MisuseError` instead of committing.
        """
        self.begin()
        generation = self._nesting.generation
        try:
            yield self
        except BaseException:
            if self._nesting.generation == generation:
                self.rollback()
            raise
        if self._nesting.generation != generation:
            raise MisuseError("the session was rolled back, and another one opened, further in")
        self.commit()

    def stage_checkpoint(
        self,
        source_id: str,
        sequence: int,
        source_position: StagedPosition = None,
        *,
        rewind: bool = False,
    ) -> None:
        """Say how far a source is; it counts once the outermost session is committed.

        Raises:
            MisuseError: no session is open, or the sequence goes back without `rewind`.
            ConfigError: not a source id, an unsigned 64-bit sequence or a position.
        """
        with self._lock:
            self._nesting.require("staging a source checkpoint")
            known = self._staged.get(source_id) or self._ledger.head().sources.get(source_id)
            self._staged[source_id] = stage(
                source_id, known, sequence, source_position, rewind=rewind
            )

    def read_checkpoint(self, source_id: str) -> SourceCheckpoint | None:
        """What is committed for a source; nothing if it was never seen."""
        return self._ledger.read().sources.get(source_id)

    def read_all_checkpoints(self) -> dict[str, SourceCheckpoint]:
        """What is committed, by source."""
        return dict(self._ledger.read().sources)

    def resume_from(self, source_id: str) -> ResumePoint | None:
        """What a source needs to go on; nothing if it was never seen."""
        checkpoint = self.read_checkpoint(source_id)
        return None if checkpoint is None else resume_point(source_id, checkpoint)

    def read_config_hash(self) -> int | None:
        return self._ledger.read().config_hash

    def read_config(self) -> Mapping[str, Any] | None:
        """The configuration that was stored beside its hash, if it was."""
        return self._ledger.read().config

    def write_config_hash(self, value: int, config: Mapping[str, Any] | None = None) -> None:
        """Replace the hash, and the configuration beside it, at once and on its own.

        It is no part of an open session, whose rollback does not undo it. The configuration is
        stored as plain text in every later document: keep it small, and secrets out of it.
        """
        plain = None if config is None else canonical(config)
        with self._lock:
            self._ledger.write(replace(self._ledger.head(), config_hash=value, config=plain))

    def clear_checkpoints(self) -> None:
        """Delete all checkpoints and the config hash: `reset` to nothing.

        State kept elsewhere must be cleared before: `remove` does it in that order.
        """
        self.reset(EMPTY)

    def reset(self, state: SourceState = EMPTY) -> None:
        """Replace everything, sources and hash, in one step, at once and on its own.

        What an open session has staged is dropped; the session stays open. Works where what is
        committed cannot be read.
        """
        with self._lock:
            self._ledger.write(state)
            self._staged.clear()

    def refresh(self) -> SourceState:
        """What is committed now, to go on from, as a new instance would.

        Raises:
            MisuseError: a session is open.
            CorruptionError: it cannot be read; `reset` and `clear_checkpoints` still work.
        """
        with self._lock:
            if self.depth:
                raise MisuseError("a session is open", hint="commit or roll back first")
            self._ledger.forget()
            return self._ledger.head()

    def claim(self) -> None:
        """Write what is committed once more, so that an earlier writer is fenced.

        Raises:
            FencedError: another writer has changed it since `refresh`.
        """
        with self._lock:
            self._ledger.write(self._ledger.head())

    def _close(self) -> None:
        self._nesting.close()
        self._staged.clear()
