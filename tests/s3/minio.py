"""A MinIO binary of our own: built once with Go, kept in the user's cache."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MODULE = "github.com/minio/minio@latest"
_BUILD_SECONDS_MAX = 1800


def cache_directory() -> Path:
    """Where binaries are kept; one that is there is used for ever."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "holdfast" / "minio"


def binary(say: Callable[[str], None]) -> Path | None:
    """The binary, built if it is not there; nothing where Go is missing or the build fails."""
    go = shutil.which("go")
    target = cache_directory() / "minio"
    if target.exists() or go is None:
        return target if target.exists() else None
    with _alone(target.parent):
        if not target.exists():
            say("building MinIO once with Go; this takes about three minutes on two cores …")
            problem = _build(go, target)
            say(f"MinIO could not be built: {problem}" if problem else f"built {target}")
    return target if target.exists() else None


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """One builder at a time; the kernel drops the lock of one that was killed."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _build(go: str, target: Path) -> str:
    """Build beside the target and rename, so that half a binary is never used; the problem."""
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        done = subprocess.run(
            [go, "install", MODULE],
            env={**os.environ, "GOBIN": folder, "CGO_ENABLED": "0"},
            capture_output=True,
            text=True,
            timeout=_BUILD_SECONDS_MAX,
            check=False,
        )
        built = Path(folder) / "minio"
        if done.returncode != 0 or not built.exists():
            return done.stderr.strip()[-500:] or "go install made no binary"
        built.replace(target)
    return ""
