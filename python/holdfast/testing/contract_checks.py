"""How a claim of the contract says that it was broken."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def require(ok: bool, broken: str) -> None:  # noqa: FBT001 - reads like an assertion
    """Go on only if this holds."""
    if not ok:
        raise AssertionError(broken)


def equal(found: object, expected: object) -> None:
    """Go on only if the two are equal."""
    require(found == expected, f"found {found!r}, expected {expected!r}")


def refused(error: type[Exception], call: Callable[[], object]) -> None:
    """Go on only if the call raises this error."""
    try:
        answer = call()
    except error:
        return
    raise AssertionError(f"answered {answer!r}, expected {error.__name__}")
