"""The spool: the driver's local disk, over which bytes pass between the JVM and Python.

Nothing in it is durable or needed after a crash: what counts is on the store.

Failure: killed → the directory stays, without its lock; the next driver on this machine takes it
away when it makes its own.
"""

from __future__ import annotations

import contextlib
import fcntl
import mmap
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.errors import BridgeError, ConfigError
from holdfast.settings import KIB

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import IO

_PREFIX = "holdfast-spool-"
_LOCK = "lock"
_MAPPED_BYTES_MIN = 64 * KIB


class SpoolRoot:
    """This driver's spool: a directory that is its own for as long as the process lives."""

    def __init__(self, parent: str) -> None:
        base = Path(parent or tempfile.gettempdir())
        try:
            base.mkdir(parents=True, exist_ok=True)
            sweep(base)
            # Locked under another name first: no one sweeps a directory that is being made.
            made = Path(tempfile.mkdtemp(prefix=".holdfast-", dir=base))
            self._lock = _locked(made / _LOCK)
            self.path = made.rename(base / f"{_PREFIX}{made.name.removeprefix('.holdfast-')}")
        except OSError as error:
            raise ConfigError(
                "the spool's directory cannot be used",
                hint="set spark.holdfast.spool.dir to a directory on a local disk with some room",
                path=base,
                reason=error.strerror,
            ) from error
        self._made = 0

    def directory(self) -> SpoolDirectory:
        """A new directory for one query."""
        self._made += 1
        path = self.path / f"{self._made}"
        path.mkdir()
        return SpoolDirectory(path)

    def close(self) -> None:
        self._lock.close()
        shutil.rmtree(self.path, ignore_errors=True)  # the next driver sweeps what is left


class SpoolDirectory:
    """One query's part: segments that the JVM wrote are read, and others written for it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._made = 0

    def read(self, segment: str, offset: int, size: int) -> bytes | memoryview:
        """Bytes of a segment; many are mapped and not copied, so that a commit is in memory once.

        Raises:
            BridgeError: the segment is not what the JVM said.
        """
        try:
            with (self.path / segment).open("rb") as file:
                if size >= _MAPPED_BYTES_MIN and offset + size <= os.fstat(file.fileno()).st_size:
                    return _mapped(file.fileno(), offset, size)
                body = os.pread(file.fileno(), size, offset)
        except OSError as error:
            raise _unreadable(segment, str(error.strerror)) from error
        if len(body) != size:
            raise _unreadable(segment, f"{len(body)} bytes at {offset}, not {size}")
        return body

    def write_segment(self, bodies: Iterable[bytes | memoryview]) -> tuple[str, list[int]]:
        """One new segment with these bodies, and where each begins."""
        self._made += 1
        name, offsets, position = f"python-{self._made}", [], 0
        with (self.path / name).open("xb") as file:
            for body in bodies:
                offsets.append(position)
                position += file.write(body)
        return name, offsets

    def has(self, segment: str) -> bool:
        """Whether a segment is on the disk; the JVM deletes those that it has no room for."""
        return (self.path / segment).exists()

    def remove(self) -> None:
        """Take it off the disk; who reads from an open segment goes on."""
        shutil.rmtree(self.path, ignore_errors=True)  # what stays goes with the spool's root

    def write_text(self, name: str, text: str) -> str:
        (self.path / name).write_text(text, encoding="utf-8", newline="")
        return name


def sweep(base: Path) -> None:
    """Take away the spools of drivers that are no more: their locks are free."""
    for path in base.glob(f"{_PREFIX}*"):
        # Somebody else's, or still in use: not ours to take away.
        with contextlib.suppress(OSError), _locked(path / _LOCK):
            shutil.rmtree(path, ignore_errors=True)


def _mapped(handle: int, offset: int, size: int) -> memoryview:
    """A part of a file that is only appended to."""
    start = offset - offset % mmap.ALLOCATIONGRANULARITY
    whole = mmap.mmap(handle, offset + size - start, access=mmap.ACCESS_READ, offset=start)
    return memoryview(whole)[offset - start :]


def _locked(path: Path) -> IO[bytes]:
    """Hold a lock file for as long as the handle is open; the kernel drops it with the process."""
    file = path.open("ab")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise
    return file


def _unreadable(segment: str, reason: str) -> BridgeError:
    return BridgeError(
        "the spool does not hold what the JVM wrote",
        hint="is another process cleaning the spool's directory?",
        segment=segment,
        reason=reason,
    )
