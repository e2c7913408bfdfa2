"""Where a command writes: documents on stdout, as text or JSON; progress and errors on stderr.

With `--json` there is exactly one JSON document on stdout and nothing else.
"""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TYPE_CHECKING, NoReturn, TypeVar

import orjson
from rich.console import Console

from holdfast.clock import SYSTEM_CLOCK, Clock
from holdfast.report.tables import View

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from rich.console import RenderableType

T = TypeVar("T")

_PIPE_WIDTH = 4096  # what is piped is for grep: nothing is folded or left out


class PipeClosedError(Exception):
    """Whoever read our output has gone; not an `OSError`, which typer would take for its own."""


class _Screen(Console):
    def on_broken_pipe(self) -> NoReturn:
        raise PipeClosedError


class Output:
    """One command's output."""

    def __init__(self, *, json: bool, clock: Clock = SYSTEM_CLOCK) -> None:
        self.is_json = json
        self._clock = clock
        self._screen = _Screen(highlight=False, markup=False, width=_width())
        self._errors = Console(stderr=True, highlight=False, markup=False)

    def show(
        self, document: T, render: Callable[[T, View], Iterable[RenderableType]], *after: str
    ) -> None:
        """One document: all of it as JSON, or its text and the lines that come after."""
        if self.is_json:
            body = orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
            self.write(body)
            return
        view = View(now_ms=self._clock.now_ms(), width=self._screen.width)
        for renderable in render(document, view):
            self._screen.print(renderable)
        for text in after:
            self._screen.print(f"\n{text}")
        self.flush()

    def write(self, body: bytes) -> None:
        """Bytes as they are."""
        try:
            sys.stdout.flush()
            sys.stdout.buffer.write(body)
        except BrokenPipeError as error:
            raise PipeClosedError from error
        self.flush()

    def flush(self) -> None:
        """Now, and not when the interpreter ends, where nothing could be done about an error."""
        try:
            sys.stdout.flush()
        except BrokenPipeError as error:
            raise PipeClosedError from error

    @contextlib.contextmanager
    def progress(self, what: str, total_bytes: int) -> Iterator[Callable[[int], None]]:
        """A bar over bytes, on a terminal; what is yielded takes the bytes that are done."""
        if not self._errors.is_terminal:
            yield lambda _: None
            return
        # Only those who see a bar wait for its import.
        from rich.progress import (  # noqa: PLC0415
            BarColumn,
            DownloadColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
        )

        columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(binary_units=True))
        with Progress(*columns, TimeRemainingColumn(), console=self._errors, transient=True) as bar:
            task = bar.add_task(what, total=total_bytes)
            yield lambda done: bar.advance(task, done)

    @contextlib.contextmanager
    def working(self, what: str) -> Iterator[None]:
        """Something turns on a terminal while work of unknown length is under way."""
        with self._errors.status(what) if self._errors.is_terminal else contextlib.nullcontext():
            yield


def _width() -> int | None:
    return None if sys.stdout.isatty() or os.environ.get("COLUMNS") else _PIPE_WIDTH
