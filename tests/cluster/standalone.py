"""A real Spark standalone cluster: a master and workers, each a process with an empty disk."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from tests.machines import HERE, Machine
from tests.spark.processes import SPARK_HOME, wait_until

if TYPE_CHECKING:
    from typing_extensions import Self

_EXECUTOR = "CoarseGrainedExecutorBackend"


class Worker:
    """One machine of the cluster, as far as Spark can tell."""

    def __init__(self, folder: Path, master: str, *, cores: int, machine: Machine) -> None:
        self.folder, self.machine = folder, machine
        self.folder.mkdir(parents=True)
        self._process = _spark_class(
            "org.apache.spark.deploy.worker.Worker",
            ["--cores", str(cores), "--memory", "2g", "--work-dir", str(folder / "work"), master],
            machine=machine,
            log=folder / "log",
            environment={"SPARK_LOCAL_DIRS": str(folder / "local")},
        )

    def executors(self) -> list[int]:
        """Process ids of the executors that run here."""
        return [pid for pid in _children(self._process.pid) if _EXECUTOR in _command(pid)]

    def decommission_executors(self) -> set[int]:
        """Tell each to finish what it does, move what it holds, and go; their process ids."""
        found = self.executors()
        for pid in found:
            os.kill(pid, signal.SIGPWR)
        return set(found)

    def kill_executors(self) -> int:
        """SIGKILL to each; how many there were."""
        found = self.executors()
        for pid in found:
            _kill(pid)
        return len(found)

    def kill(self) -> None:
        """The machine is gone: its executors, the worker, and its disk."""
        self.kill_executors()
        _kill(self._process.pid)
        self._process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


class Cluster:
    """A master and its workers; everything ends with the block."""

    def __init__(
        self, folder: Path, *, workers: int = 2, cores: int = 1, machine: Machine = HERE
    ) -> None:
        self._folder, self._cores = folder, cores
        folder.mkdir(parents=True, exist_ok=True)
        self._log = folder / "master.log"
        self._master = _spark_class(
            "org.apache.spark.deploy.master.Master",
            [],
            machine=machine,
            log=self._log,
            environment={},
        )
        wait_until(lambda: bool(self._address()), "the master to listen")
        self.master = self._address()
        self.workers: list[Worker] = []
        for _ in range(workers):
            self.add_worker()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self.workers:
            worker.kill()
        _kill(self._master.pid)
        self._master.wait()

    def add_worker(self, machine: Machine | None = None) -> Worker:
        """Each has an address of its own: Spark speculates on other hosts only."""
        number = len(self.workers)
        place = machine or Machine(address=f"127.0.0.{2 + number}")
        folder = self._folder / f"worker-{number}"
        self.workers.append(Worker(folder, self.master, cores=self._cores, machine=place))
        return self.workers[-1]

    def executors(self) -> list[int]:
        return [pid for worker in self.workers for pid in worker.executors()]

    def decommission(self) -> set[int]:
        """The executors of the first worker that has any."""
        worker = next(worker for worker in self.workers if worker.executors())
        return worker.decommission_executors()

    def _address(self) -> str:
        text = self._log.read_text(errors="replace") if self._log.exists() else ""
        found = re.search(r"Starting Spark master at (spark://\S+)", text)
        return found[1] if found else ""


def _spark_class(
    name: str, arguments: list[str], *, machine: Machine, log: Path, environment: dict[str, str]
) -> subprocess.Popen[bytes]:
    java = shutil.which("java") or str(Path(os.environ["JAVA_HOME"]) / "bin" / "java")
    place = ["--host", machine.address, "--port", "0", "--webui-port", "0"]
    command = [java, "-Xmx256m", "-cp", f"{SPARK_HOME}/jars/*", name, *place, *arguments]
    with log.open("wb") as file:
        return subprocess.Popen(
            [*machine.prefix, *command],
            stdout=file,
            stderr=file,
            start_new_session=True,
            env={
                **os.environ,
                "SPARK_HOME": str(SPARK_HOME),
                "SPARK_SCALA_VERSION": "2.13",  # Spark's launcher looks for a build otherwise
                **environment,
            },
        )


def _children(pid: int) -> list[int]:
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(fields[1]) == pid:
            found.append(int(status.parent.name))
    return found


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except (FileNotFoundError, ProcessLookupError):
        return ""


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return
