"""Runs the seed's own crate, laminar-storage 0.18.5, on a local directory.

`run_crate(root, prefix, command, *arguments)` is all that a test needs; `laminar/src/main.rs`
lists the commands. The program is built once, into the user's cache.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).with_name("laminar")
BUILD_TIMEOUT_S = 1800


def cargo() -> str | None:
    return shutil.which("cargo")


def target_directory() -> Path:
    """Cargo's own setting, else the user's cache: the build survives a fresh clone."""
    chosen = os.environ.get("CARGO_TARGET_DIR")
    if chosen:
        return Path(chosen)
    caches = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(caches) / "holdfast" / "laminar-probe"


def is_built() -> bool:
    return _binary().exists()


def _binary() -> Path:
    return target_directory() / "debug" / "laminar-probe"


@cache
def build() -> Path:
    """The program, built from the locked versions if need be."""
    done = subprocess.run(
        [cargo() or "cargo", "build", "--locked", "--quiet"],
        cwd=PROJECT,
        env={**os.environ, "CARGO_TARGET_DIR": str(target_directory())},
        capture_output=True,
        text=True,
        timeout=BUILD_TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, f"cargo build failed:\n{done.stderr[-4000:]}"
    return _binary()


def run_crate(root: Path, prefix: str, command: str, *arguments: str) -> Any:
    """What the crate says, as JSON; numbers are exact."""
    done = subprocess.run(
        [str(build()), str(root), prefix, command, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout)
