"""A trap for tasks and sinks: they wait in it until a test has done to them what it wants to."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from tests.spark.processes import wait_until

if TYPE_CHECKING:
    from pathlib import Path

_LOOK_S = 0.01


class Trap:
    """A folder that every process of a test sees; `hold` in it shuts the trap."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()

    def shut(self) -> None:
        (self.folder / "hold").touch()

    def keep(self, pid: int) -> None:
        """This process stays in it when it is opened for the others."""
        (self.folder / f"hold-{pid}").touch()

    def open(self) -> None:
        """Whoever waits and is not kept goes on."""
        (self.folder / "hold").unlink()

    def release(self, pid: int) -> None:
        (self.folder / f"hold-{pid}").unlink()

    def caught(self, count: int = 1) -> list[int]:
        """Wait until so many processes are in it; their ids."""
        wait_until(lambda: len(self._caught()) >= count, f"{count} in the trap")
        return self._caught()

    def _caught(self) -> list[int]:
        return [int(path.name.removeprefix("at-")) for path in self.folder.glob("at-*")]


def wait_in(folder: Path, who: int) -> None:
    """What `Trap.java` does, in Python."""
    if (folder / "hold").exists():
        (folder / f"at-{who}").touch()
        while (folder / "hold").exists():
            time.sleep(_LOOK_S)
