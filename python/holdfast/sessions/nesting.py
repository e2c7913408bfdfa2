"""How sessions nest: a depth, the thread that owns it, and whether its last commit failed.

Invariants
- Only the outermost commit writes; a rollback at any depth discards everything, and the commits
  that were to come are errors.
- After a failed commit the session stays as it was until it is committed or rolled back: a begin
  would otherwise count as nested, and nothing would ever be written again.
- A session belongs to the thread that opened it; any thread may roll it back.
"""

from __future__ import annotations

import threading

from holdfast.errors import MisuseError

_BEGIN_HINT = "call begin() first, or use `with checkpoints.session():`"


class Nesting:
    """The depth of one session at a time; callers hold a lock around each call."""

    def __init__(self) -> None:
        self.depth = 0
        self.generation = 0
        self._owner = 0
        self._commit_failed = False

    def begin(self) -> None:
        """One deeper; the first one opens, in this thread.

        Raises:
            MisuseError: another thread's session is open, or one whose commit failed.
        """
        if self.depth == 0:
            self._owner = threading.get_ident()
            self.generation += 1
        self._require_owner()
        if self._commit_failed:
            raise MisuseError(
                "the session whose commit failed is still open",
                hint="commit() it again or rollback() first",
            )
        self.depth += 1

    def require(self, action: str) -> None:
        """Raise `MisuseError` unless this thread has a session open."""
        if self.depth == 0:
            raise MisuseError(f"{action} needs an open session", hint=_BEGIN_HINT)
        self._require_owner()

    def leave(self) -> bool:
        """Whether this commit is the outermost, which has to write; an inner one is counted.

        Raises:
            MisuseError: no session is open, or it was rolled back further in.
        """
        self.require("commit")
        if self.depth == 1:
            self._commit_failed = True  # until `close` says that it did not
            return True
        self.depth -= 1
        return False

    def close(self) -> None:
        """Committed or rolled back: no session is open."""
        self.depth = 0
        self._commit_failed = False

    def _require_owner(self) -> None:
        if self._owner != threading.get_ident():
            raise MisuseError(
                "another thread has a session open",
                hint="let one thread at a time use the sessions of a query",
            )
