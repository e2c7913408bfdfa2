"""The error that stopped a query, read out of what Spark says of its end."""

from __future__ import annotations

import pytest

from holdfast.errors import CommitUnknownError, FencedError
from holdfast.spark.failures import read_failure
from holdfast.spark.status import Record, Status

FRAMES = "\n\tat org.x.Some.call(Some.scala:1)\n\tat java.lang.Thread.run(Thread.java:9)\n"
PROXY = (
    "py4j.Py4JException: An exception was raised by the Python Proxy. Return Message: "
    'Traceback (most recent call last):\n  File "x.py", line 1, in fn\n    raise x\n    ^^^^^^^\n'
)
WORKER = (
    "org.apache.spark.api.python.PythonException: [PYTHON_EXCEPTION] from the worker: "
    'Traceback (most recent call last):\n  File "y.py", line 2, in udf\n'
)


def caused(*errors: str) -> str:
    return "Caused by: ".join(error + FRAMES for error in errors)


@pytest.mark.parametrize(
    ("errors", "error", "message"),
    [
        (["java.lang.IllegalStateException: no"], "IllegalStateException", "no"),
        (["java.lang.StackOverflowError"], "StackOverflowError", ""),
        (["a.Job: aborted", "b.IOException: disk", "c.Out$Inner: root\nmore"], "Inner", "root"),
        ([f"{PROXY}ValueError: boom\nsecond line\n"], "ValueError", "boom"),
        ([f"{PROXY}AssertionError\n"], "AssertionError", ""),
        ([f"{PROXY}some.module.OwnError: words: more\n"], "OwnError", "words: more"),
        (["a.Job: aborted", f"{WORKER}KeyError: 'k'\n"], "KeyError", "'k'"),
        ([f"{PROXY}KeyError: 1\n\nDuring …\n\n{PROXY}TypeError: 2\n"], "TypeError", "2"),
        (["holdfast.HoldfastException: FencedError: taken by=`x`"], "FencedError", "taken by=`x`"),
        (["a.Job: no", "b.C: task 3: CorruptionError: gone", "d.E: f"], "CorruptionError", "gone"),
        ([f"{PROXY}holdfast.errors.MisuseError: not now\n"], "MisuseError", "not now"),
        (["  "], "StreamingQueryException", "  "),
    ],
)
def test_the_root_cause_names_the_error(errors: list[str], error: str, message: str) -> None:
    """A Python error by its own class, ours by our own, any other by the last `Caused by`."""
    assert read_failure(caused(*errors)) == (error, message)


def record() -> Record:
    return Record(status=Status(query="q", store="s", claim=1, run_id="run"))


def test_a_stop_during_a_gate_is_no_error() -> None:
    """The gate fails because nobody waits for it any more, before the end or after it."""
    before, after = record(), record()
    before.failed(CommitUnknownError("x"))
    for kept in (before, after):
        kept.terminated("run", "")
    after.failed(CommitUnknownError("x"))
    for kept in (before, after):
        assert (kept.status.error, kept.status.message, kept.status.active) == ("", "", False)


def test_a_driver_that_was_overtaken_stays_fenced() -> None:
    """Whether it was stopped or not."""
    kept = record()
    kept.failed(FencedError("taken"))
    kept.terminated("run", "")
    assert kept.status.fenced


def test_an_error_of_ours_is_not_replaced_by_how_spark_tells_it() -> None:
    """Its type is known, and the end of another run says nothing of this one."""
    kept = record()
    kept.terminated("other run", "a.B: c")
    assert kept.status.error == ""
    kept.failed(CommitUnknownError("first\nsecond"))
    kept.terminated("run", f"java.io.IOException: wrapped{FRAMES}")
    assert (kept.status.error, kept.status.message) == ("CommitUnknownError", "first")
