"""What the bench says while it runs: a line for each step, and how far it is."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


class Said:
    """Lines on the console, each with the time since the start and the share that is done."""

    def __init__(self, console: Console, steps: int) -> None:
        self._console = console
        self._steps = steps
        self._done = 0
        self._started = time.monotonic()

    def step(self, text: str) -> None:
        """One more step is done."""
        self._done += 1
        minutes, seconds = divmod(int(time.monotonic() - self._started), 60)
        share = min(100, 100 * self._done // self._steps)
        self._console.print(
            f"[dim]{minutes:3}:{seconds:02} {share:3} %[/dim] {text}", highlight=False
        )
