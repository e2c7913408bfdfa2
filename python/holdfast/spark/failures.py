"""Why a query failed, out of the stack trace that Spark gives: the error's name and first line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holdfast.errors import HoldfastError

if TYPE_CHECKING:
    from collections.abc import Iterator

_CAUSED_BY = "\nCaused by: "
_TRACEBACK = "Traceback (most recent call last):\n"
_HEADING = re.compile(r"(?P<name>[A-Za-z_][\w.$]*)(?:: (?P<message>.*))?")


def read_failure(trace: str) -> tuple[str, str]:
    """The name and the first line of the error at the root of a Java stack trace.

    An error of Holdfast has its own name, however deep it is. Where the root is an error that
    Python raised, it is that one, and not the Java exception which carries it.
    """
    lines = [line for line in trace.splitlines() if line]
    for line in lines:
        ours = _OURS.search(line)
        if ours is not None and not line.startswith((" ", "\t")):
            return ours["name"], ours["message"]
    root = trace.rpartition(_CAUSED_BY)[2]
    found = _python_error(root) or _HEADING.match(root)
    if found is None:
        return "StreamingQueryException", lines[0] if lines else ""
    return re.split(r"[.$]", found["name"])[-1], found["message"] or ""


def _python_error(root: str) -> re.Match[str] | None:
    """The last line of a traceback's frames: the first one that is not indented."""
    _, traceback, rest = root.rpartition(_TRACEBACK)
    if not traceback:
        return None
    line = next((line for line in rest.split("\n") if line and not line[0].isspace()), "")
    return _HEADING.fullmatch(line)


def _names(kind: type[HoldfastError]) -> Iterator[str]:
    yield kind.__name__
    for each in kind.__subclasses__():
        yield from _names(each)


_OURS = re.compile(
    rf"(?:^|[\s.])(?P<name>{'|'.join(sorted(_names(HoldfastError)))}): (?P<message>.*)"
)
