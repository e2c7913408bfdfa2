"""Drivers as processes, to be killed, paused and raced by tests."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyspark

from tests.machines import HERE, Machine

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Self

ROOT = Path(__file__).parents[2]
SPARK_HOME = Path(pyspark.__file__).parent  # a cluster's executors are started from here
_ANSWER_SECONDS_MAX = 180
_TASKS = "tests.spark.tasks"


class ChildError(Exception):
    """What the child said, or that it says nothing any more."""


class Child:
    """One driver; everything it starts is gone after `kill` or `close`."""

    def __init__(
        self, log: Path, *, env: dict[str, str] | None = None, machine: Machine = HERE
    ) -> None:
        self._log, self._machine = log, machine
        read_end, write_end = os.pipe()
        self._answers = os.fdopen(read_end, "r")
        with log.open("ab") as file:
            self._process = subprocess.Popen(
                [*machine.prefix, sys.executable, "-m", "tests.spark.child", str(write_end)],
                stdin=subprocess.PIPE,
                stdout=file,
                stderr=file,
                cwd=ROOT,
                pass_fds=[write_end],
                text=True,
                start_new_session=True,
                env={**os.environ, **(env or {})},
            )
        os.close(write_end)
        self.jvm_pid = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def send(self, task: str, **args: Any) -> None:
        """Ask without waiting for the answer."""
        call = task if ":" in task else f"{_TASKS}:{task}"
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"call": call, "args": args}) + "\n")
        self._process.stdin.flush()

    def answer(self, seconds: float = _ANSWER_SECONDS_MAX) -> Any:
        """Wait for the answer."""
        ready, _, _ = select.select([self._answers], [], [], seconds)
        line = self._answers.readline() if ready else ""
        if not line:
            raise ChildError(f"no answer within {seconds} s; the log ends:\n{self.log_tail()}")
        answer = json.loads(line)
        if "error" in answer:
            raise ChildError(answer["error"] + "\n" + answer["trace"])
        return answer["value"]

    def answer_now(self) -> Any:
        """The answer if it is there, or None."""
        ready, _, _ = select.select([self._answers], [], [], 0)
        return self.answer(0) if ready else None

    def call(self, task: str, **args: Any) -> Any:
        self.send(task, **args)
        return self.answer()

    def start(self, store: str, *, master: str = "local[2]", **conf: str) -> None:
        """Open the session."""
        conf = {**_own_address(self._machine), **conf}
        self.jvm_pid = int(self.call("open_session", store=store, conf=conf, master=master))

    @property
    def pid(self) -> int:
        return self._process.pid

    def is_alive(self) -> bool:
        return self._process.poll() is None

    def signal(self, number: int, *, who: str = "both") -> None:
        """Send a signal to the Python process, to the JVM, or to both."""
        for pid in {"python": [self.pid], "jvm": [self.jvm_pid]}.get(who, [self.pid, self.jvm_pid]):
            if pid:
                _signal(pid, number)

    def kill(self, *, who: str = "both") -> None:
        """SIGKILL, and whatever of the two is left follows at once."""
        self.signal(signal.SIGKILL, who=who)
        self._reap()

    def _reap(self) -> None:
        """Nothing of this child may outlive it: both were started in a group of their own."""
        for pid in (self.pid, self.jvm_pid):
            if pid:
                _signal(pid, signal.SIGKILL)
        _signal_group(self.pid)
        self._process.wait()
        if self._process.stdin:
            with_suppressed_pipe(self._process.stdin.close)
        self._answers.close()
        wait_until(lambda: not _exists(self.jvm_pid), "the JVM to end")

    def log_tail(self, count: int = 40) -> str:
        return "\n".join(self._log.read_text(errors="replace").splitlines()[-count:])


def _own_address(machine: Machine) -> dict[str, str]:
    """Where executors on other machines find this driver."""
    if machine is HERE:
        return {}
    return {"spark.driver.host": machine.address, "spark.driver.bindAddress": machine.address}


def with_suppressed_pipe(close: Callable[[], None]) -> None:
    try:
        close()
    except BrokenPipeError:
        return


def wait_until(
    condition: Callable[[], bool], what: str, *, seconds: float = 60, every_s: float = 0.02
) -> None:
    """Poll until it holds."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"waited {seconds} s for {what}")
        time.sleep(every_s)


def _signal(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return


def _signal_group(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def _exists(pid: int) -> bool:
    """Whether a process runs; one that waits to be reaped does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
