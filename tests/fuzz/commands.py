"""Command lines as a target: arguments of any kind, on a store that has one of everything.

No command line is a mistake in holdfast itself: it is done, or refused with a sentence and a code.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.cli import exits
from tests.cli.support import build, holdfast
from tests.fuzz.engine import Target

if TYPE_CHECKING:
    from collections.abc import Iterator

_STORE = "STORE"
_SEEDS = (
    b"ls\nSTORE\n--json",
    b"ls\nSTORE/orders\n--limit\n3",
    b"show\nSTORE/orders\n5\n--files",
    b"validate\nSTORE/orders\n--all",
    b"validate\nSTORE/eu/clicks\n4\n--json",
    b"recover\nSTORE/orders\n--dry-run",
    b"tag\nSTORE/orders\nv2\n3",
    b"rollback\nSTORE/orders\n3\n--yes",
    b"submit-args\n--store\nSTORE",
    b"--version",
    b"show\n--help",
)
# These write elsewhere than into the store, or race writers for seconds.
_LEFT_OUT = ("import", "export", "certify")


def command_line() -> Target:
    """Any arguments, on a store in a directory that goes away with this process."""
    folder = _folder()
    store = (folder / "store").as_uri()

    def decode(data: bytes) -> None:
        arguments = _arguments(data, store)
        if arguments is None:
            return
        with _inside(folder):
            ran = holdfast(*arguments)
        known = set(exits.EXIT_CODES) - {exits.INTERNAL}
        assert ran.code in known, f"{arguments} ends with {ran.code}: {ran.err[-500:]}"

    return Target(name="command line", seeds=_SEEDS, decode=decode, cost=30)


@cache
def _folder() -> Path:
    """Made once, before anything is timed."""
    folder = Path(tempfile.mkdtemp(prefix="holdfast-fuzz-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    build(folder / "store")
    return folder


def _arguments(data: bytes, store: str) -> list[str] | None:
    """One a line; nothing that leads out of the store."""
    lines = data.decode(errors="replace").split("\n")
    if any(word in lines for word in _LEFT_OUT) or any(_leads_out(line) for line in lines):
        return None
    return [line.replace(_STORE, store) for line in lines]


def _leads_out(line: str) -> bool:
    rest = line.removeprefix(_STORE)
    elsewhere = ("..", ":", "\0", "completion")
    return any(word in line for word in elsewhere) or (rest == line and "/" in line)


@contextlib.contextmanager
def _inside(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
