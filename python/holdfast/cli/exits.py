"""Exit codes, and which error has which: derived from the tree of errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.errors import (
    BridgeError,
    CarriedPlanError,
    CommitUnknownError,
    ConfigError,
    CorruptionError,
    FencedError,
    MisuseError,
    StoreError,
    UnavailableError,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

OK, INVALID, USAGE, REFUSED, UNAVAILABLE, FENCED, BRIDGE = range(7)
INTERNAL, INTERRUPTED, PIPE_CLOSED = 70, 130, 141

EXIT_CODES: Mapping[int, str] = {
    OK: "done, or a dry run that says what would be done",
    INVALID: "something stored is invalid or corrupt",
    USAGE: "the command line or the configuration is wrong",
    REFUSED: "the store said no: not found, exists already, access refused, not certified",
    UNAVAILABLE: "the store does not answer; try later",
    FENCED: "another writer was faster, or the outcome is unknown; look before you repeat",
    BRIDGE: "the JVM side is absent or broken",
    INTERNAL: "a mistake in holdfast itself; --debug shows where",
    INTERRUPTED: "interrupted (Ctrl-C)",
    PIPE_CLOSED: "the reader of the output went away",
}

_OF_ERRORS: Mapping[type[BaseException], int] = {
    CorruptionError: INVALID,
    ConfigError: USAGE,
    MisuseError: USAGE,
    StoreError: REFUSED,
    UnavailableError: UNAVAILABLE,
    FencedError: FENCED,
    CarriedPlanError: FENCED,
    CommitUnknownError: FENCED,
    BridgeError: BRIDGE,
    KeyboardInterrupt: INTERRUPTED,
}


def code_of(error: BaseException) -> int:
    """The code of the nearest class of this error that has one."""
    codes = (_OF_ERRORS[kind] for kind in type(error).__mro__ if kind in _OF_ERRORS)
    return next(codes, INTERNAL)
