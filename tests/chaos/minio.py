"""A MinIO that can be killed, paused and started again on the same address and data."""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import subprocess
from typing import TYPE_CHECKING

from tests.s3 import server

if TYPE_CHECKING:
    from pathlib import Path

    from typing_extensions import Self


class Minio:
    """One server, for as long as the block lasts."""

    def __init__(self, choice: server.Choice, folder: Path) -> None:
        if choice.kind != "binary":
            raise SystemExit(
                f"the chaos kills MinIO itself: install Go to build it ({choice.name})"
            )
        folder.mkdir()
        self._program, self._folder = str(choice.program), folder
        self._address = f"127.0.0.1:{server.free_port()}"
        self._secrets = server.minio_environment(secrets.token_hex(8), secrets.token_hex(16))
        self._guard = self._started()

    def __enter__(self) -> Self:
        server.wait_for(self.server.endpoint, self._folder / "log")
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    @property
    def server(self) -> server.Server:
        return server.Server(
            kind="binary",
            endpoint=f"http://{self._address}",
            access_key=self._secrets["MINIO_ROOT_USER"],
            secret_key=self._secrets["MINIO_ROOT_PASSWORD"],
        )

    def kill(self) -> None:
        """SIGKILL; it is down until `start`."""
        self.signal(signal.SIGKILL)
        self._guard.wait()
        if self._guard.stdin is not None:
            self._guard.stdin.close()

    def start(self) -> None:
        """Again, if it is down."""
        if self._guard.poll() is not None:
            self._guard = self._started()

    def signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._guard.pid, number)

    def _started(self) -> subprocess.Popen[bytes]:
        command = [self._program, "server", str(self._folder / "data"), "--quiet"]
        with (self._folder / "log").open("ab") as log:
            return subprocess.Popen(
                ["/bin/sh", "-c", server.GUARD, "guard", *command, "--address", self._address],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                cwd=self._folder,
                env={**os.environ, **self._secrets, "HOME": str(self._folder)},
                start_new_session=True,
            )
