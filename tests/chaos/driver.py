"""A driver as its supervisor sees it: it starts, runs, stops with a text, sleeps or is gone."""

from __future__ import annotations

import contextlib
import os
import signal
from enum import Enum
from typing import TYPE_CHECKING, Any

from tests.spark.processes import SPARK_HOME, Child, ChildError

if TYPE_CHECKING:
    from pathlib import Path


class State(Enum):
    """Where a driver is in its life."""

    STARTING = "starting"
    RUNNING = "running"
    STOPPED = "stopped"
    GONE = "gone"


class Driver:
    """One process with one session; nothing here waits for it."""

    def __init__(self, log: Path, *, store: str, master: str, conf: dict[str, str]) -> None:
        self._child = Child(log, env={"SPARK_HOME": str(SPARK_HOME)})
        self._stop_file = log.with_suffix(".stop")
        self._child.send("open_session", store=store, conf=conf, master=master)
        self.state = State.STARTING
        self.is_paused = False

    @property
    def pid(self) -> int:
        return self._child.pid

    def run(self, folder: str, database: str) -> None:
        """Begin the queries."""
        self._child.send(
            "tests.chaos.tasks:run_queries",
            folder=folder,
            database=database,
            stop_file=str(self._stop_file),
        )
        self.state = State.RUNNING

    def poll(self) -> str | None:
        """What it has to say now, if anything: empty for a session or a stop that was asked for."""
        if self.state in (State.GONE, State.STOPPED):
            return None
        try:
            answer = self._child.answer_now()
        except ChildError as error:
            answer = str(error)
        if answer is None:
            return None
        return self._told(answer)

    def _told(self, answer: Any) -> str:
        if self.state is State.STARTING and isinstance(answer, int):
            self._child.jvm_pid = answer
            self.state = State.STOPPED
            return ""
        self.state = State.STOPPED if self._child.is_alive() else State.GONE
        return str(answer)

    def stop_queries(self) -> None:
        """As a person would, without an error."""
        self._stop_file.touch()

    def pause(self) -> None:
        """The whole process group sleeps."""
        self.is_paused = True
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        self.is_paused = False
        self._signal(signal.SIGCONT)

    def strike(self, who: str) -> None:
        """SIGKILL to Python, the JVM or both; what is left of it lives on until `bury`."""
        self._child.signal(signal.SIGKILL, who=who)
        self.state = State.GONE

    def bury(self) -> None:
        """Nothing of it is left."""
        self.state = State.GONE
        self._child.kill()

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._child.pid, number)
