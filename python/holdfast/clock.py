"""Time as an argument, so that any failure can be replayed."""

from __future__ import annotations

import time
from typing import Protocol


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
