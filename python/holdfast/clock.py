"""Time as an argument, so that any failure can be replayed."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator


class Clock(Protocol):
    """What the core may know of time."""

    def now_ms(self) -> int:
        """Wall clock, milliseconds since the Unix epoch; may jump, but is never negative."""

    def monotonic(self) -> float:
        """Seconds from an arbitrary point; never goes back."""

    def sleep(self, seconds: float) -> None:
        """Wait; a test's clock only counts."""


class SystemClock:
    """The machine's own clock."""

    def now_ms(self) -> int:
        # A machine that lost its clock may be before 1970, which no reader of ours would take.
        return max(0, time.time_ns() // 1_000_000)

    def monotonic(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


SYSTEM_CLOCK = SystemClock()


@dataclass(slots=True, kw_only=True)
class Deadline:
    """A moment by which something must be done. Any number of threads may share one.

    `seconds` is the time allowed in all, and `setting` the name of what to raise to allow more;
    both are for messages.
    """

    clock: Clock
    ends_at_s: float
    seconds: float
    setting: str = ""

    @staticmethod
    def after(seconds: float, *, clock: Clock, setting: str = "") -> Deadline:
        """So many seconds from now."""
        ends_at_s = clock.monotonic() + seconds
        return Deadline(clock=clock, ends_at_s=ends_at_s, seconds=seconds, setting=setting)

    def remaining_s(self) -> float:
        """Never negative; 0 means that it has passed."""
        return max(0.0, self.ends_at_s - self.clock.monotonic())

    def extended(self, seconds: float) -> Deadline:
        """The same deadline, so many seconds later."""
        return replace(self, ends_at_s=self.ends_at_s + seconds)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """What is done meanwhile does not count; it must not itself depend on this deadline."""
        began_s = self.clock.monotonic()
        try:
            yield
        finally:
            self.ends_at_s += self.clock.monotonic() - began_s

    def at_least(self, seconds: float) -> Deadline:
        """The same deadline, but not before so many seconds from now."""
        return replace(self, ends_at_s=max(self.ends_at_s, self.clock.monotonic() + seconds))
