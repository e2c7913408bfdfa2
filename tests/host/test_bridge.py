"""The border to the JVM: only who has the secret is answered, and nothing private is in reach."""

from __future__ import annotations

import inspect
import logging
from typing import TYPE_CHECKING, Any, cast

import pytest

from holdfast.spark.bridge import ListenerSide, PythonSide

if TYPE_CHECKING:
    from holdfast.spark.host import Host

SECRET = "of this test"
METHODS = sorted(name for name in vars(PythonSide) if name.islower() and name[0] != "_")
WRONG: list[object] = [
    "",
    "of this tes",
    "of this test!",
    "\u00fc",
    "\udc80",
    None,
    0,
    True,
    b"of this test",
    [],
]


class Untouchable:
    """A host that notes whatever is asked of it."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __getattr__(self, name: str) -> Any:
        self.asked.append(name)
        raise AssertionError(name)


def arguments(method: str) -> list[str]:
    """As many as the method takes after the secret."""
    return ["x"] * (len(inspect.signature(getattr(PythonSide, method)).parameters) - 2)


@pytest.mark.parametrize("secret", WRONG)
@pytest.mark.parametrize("method", METHODS)
def test_a_call_without_the_secret_touches_nothing(method: str, secret: object) -> None:
    """Whatever its type; the answer is an error, and never an exception."""
    host = Untouchable()
    side = PythonSide(cast("Host", host), SECRET)
    answer = getattr(side, method)(secret, *arguments(method))
    assert answer == "error\nBridgeError: the call does not carry the driver's secret"
    assert host.asked == []


def test_the_first_refusal_is_a_warning_and_none_shows_the_secret(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A forger cannot fill the log."""
    side = PythonSide(cast("Host", Untouchable()), SECRET)
    with caplog.at_level(logging.DEBUG):
        answers = [side.end("guess", "/orders", 1) for _ in range(3)]
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "PySpark's callback server" in caplog.text
    assert SECRET not in caplog.text + repr(side) + "".join(answers)


@pytest.mark.parametrize(
    "name",
    [
        "__init__",
        "__setattr__",
        "__delattr__",
        "__getattribute__",
        "__dict__",
        "__reduce__",
        "_guard",
        "_listener",
    ],
)
def test_private_names_do_not_exist_from_outside(name: str) -> None:
    """py4j calls any attribute that it is given the name of."""
    for side in (
        PythonSide(cast("Host", Untouchable()), SECRET),
        ListenerSide(cast("Any", Untouchable())),
    ):
        with pytest.raises(AttributeError):
            getattr(side, name)
        assert side.Java.implements
        assert side.__class__ is object
