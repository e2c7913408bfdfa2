"""The outer border: whatever is raised inside a command becomes a sentence and an exit code."""

from __future__ import annotations

import contextlib
import os
import sys
import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING

import orjson
import typer
from rich.console import Console

from holdfast.cli import exits
from holdfast.cli.output import Output, PipeClosedError
from holdfast.errors import HoldfastError
from holdfast.objectstore import redact
from holdfast.report.tables import BAD, STRONG, line, styled

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorDocument:
    """What went wrong; with `--json` this is the one document. No secret is in it."""

    error: str
    message: str
    hint: str
    details: dict[str, str]

    @classmethod
    def of(cls, error: BaseException) -> ErrorDocument:
        if isinstance(error, HoldfastError):
            return cls(
                error=type(error).__name__,
                message=redact(error.message),
                hint=redact(error.hint),
                details={name: redact(str(value)) for name, value in error.details.items()},
            )
        if isinstance(error, KeyboardInterrupt):
            hint = "what was under way may be done in part; the same command again is safe"
            return cls(error="Interrupted", message="interrupted", hint=hint, details={})
        return cls(
            error="InternalError",
            message=f"a mistake in holdfast itself: {type(error).__name__}: {redact(str(error))}",
            hint="run it again with --debug, and report what it shows",
            details={},
        )


@contextlib.contextmanager
def border(*, json: bool, debug: bool) -> Iterator[Output]:
    """Around every command: its output, and what becomes of its errors.

    Raises:
        typer.Exit: with the code of the error.
    """
    output = Output(json=json)
    try:
        yield output
    except (typer.Exit, typer.Abort):
        raise
    except PipeClosedError:
        _silence_stdout()
        raise typer.Exit(exits.PIPE_CLOSED) from None
    except BaseException as error:  # noqa: BLE001 - the border: it is told, and ends the process
        code = exits.code_of(error)
        tell(ErrorDocument.of(error), json=json, trace=_trace(error) if wants(debug) else "")
        raise typer.Exit(code) from None


def wants(debug: bool) -> bool:
    """Whether the trace is asked for, by the option or by the environment."""
    return debug or os.environ.get("HOLDFAST_DEBUG", "0") not in ("", "0")


def tell(document: ErrorDocument, *, json: bool, trace: str = "") -> None:
    """A sentence and a hint on stderr, or the document on stdout; a trace always on stderr."""
    screen = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)
    if trace:
        screen.print(trace)
    if json:
        sys.stdout.write(orjson.dumps(document, option=orjson.OPT_INDENT_2).decode() + "\n")
        sys.stdout.flush()
        return
    details = ", ".join(f"{name} {value}" for name, value in document.details.items())
    sentence = f"{document.message} ({details})" if details else document.message
    screen.print(line(styled("error", BAD), f": {sentence}"))
    if document.hint:
        screen.print(line(styled("hint", STRONG), f": {document.hint}"))


def _trace(error: BaseException) -> str:
    return redact("".join(traceback.format_exception(error)))


def _silence_stdout() -> None:
    """Let what is still in the buffer go nowhere, when the interpreter flushes it at its end."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
