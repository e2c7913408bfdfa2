"""Where committed source checkpoints live: the seam, and its volatile form."""

from __future__ import annotations

from typing import Protocol

from holdfast.sessions.state import EMPTY, SourceState


class Ledger(Protocol):
    """One state, replaced as a whole; `SourceCheckpoints` makes every change one `write`.

    `write` and `forget` are called by one thread at a time, `read` by any.
    """

    @property
    def is_persistent(self) -> bool:
        """Whether the state outlives the process."""

    def read(self) -> SourceState:
        """What is committed now, whoever wrote it.

        Raises:
            CorruptionError: the newest state is unreadable.
        """

    def head(self) -> SourceState:
        """What this writer goes on from: what it first read, then what it wrote last.

        Raises:
            CorruptionError: the newest state is unreadable.
        """

    def write(self, state: SourceState) -> None:
        """Replace the state, whole or not at all; works over an unreadable one too.

        Raises:
            FencedError: another writer has written since this one read.
            CommitUnknownError: it may have been written; write again, or read.
        """

    def forget(self) -> None:
        """Go on from what the store holds now, as a new writer would."""


class MemoryLedger:
    """The state in this process; gone with it."""

    is_persistent = False

    def __init__(self) -> None:
        self._state = EMPTY

    def read(self) -> SourceState:
        return self._state

    def head(self) -> SourceState:
        return self._state

    def write(self, state: SourceState) -> None:
        self._state = state

    def forget(self) -> None:
        """Nobody else can have written."""
