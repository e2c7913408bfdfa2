"""What the JVM tells Python, as a target: calls with arguments of the right types and any value.

Every call is answered, and none of the answers is that Holdfast itself has a defect.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from holdfast.spark.bridge import PythonSide
from holdfast.spark.host import Host
from holdfast.spark.options import parse_options
from tests.fuzz.engine import Target
from tests.host.jvm import FakeJvm
from tests.trust import trusted

if TYPE_CHECKING:
    from collections.abc import Sequence

_LONG = 1 << 63
_SECRET = "a secret of this process"
_TYPES: dict[str, Sequence[type]] = {
    "recover": (str, str, bool, int),
    "begin": (str, int, str, str, str),
    "intent": (str, int, int, str),
    "commit": (str, int, int, str),
    "fetch": (str, int, str, str),
    "sign": (str, int, int, str, str),
    "finish": (str, int, str, str),
    "end": (str, int),
}


def calls() -> Target:
    """A host with a query that runs, as a driver has it."""
    python = _side()

    def decode(data: bytes) -> None:
        call = _call(data)
        if call is None:
            return
        answer = getattr(python, call[0])(_SECRET, *call[1])
        assert isinstance(answer, str), f"{call} is answered with {answer!r}"
        assert "a defect in holdfast" not in answer, f"{call} is answered with {answer}"

    return Target(name="calls of the JVM", seeds=_seeds(), decode=decode, cost=10)


@cache
def _side() -> PythonSide:
    folder = Path(tempfile.mkdtemp(prefix="holdfast-fuzz-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    conf = {
        "spark.holdfast.store": trusted((folder / "store").as_uri()),
        "spark.holdfast.spool.dir": str(folder / "spool"),
    }
    host = Host(parse_options(conf), application="fuzz")
    atexit.register(host.close)
    jvm = FakeJvm(host)
    for batch in range(2):
        jvm.run_batch(batch, v1_delta=b"state")
    return PythonSide(host, _SECRET)


def _seeds() -> tuple[bytes, ...]:
    journal = "f\toffsets/2\t1700\t3\tshim-1\t0\nd\tstate/0/1\t1700\nx\toffsets/0\n"
    large = f"o\tstate/0/0/2.zip\t1700\t4096\t{'ab' * 32}\t7\tcheckpoints/files/000001/x\n"
    thread = (
        "stream execution thread for name [id = 0190b6d5-3b7c-7def-8123-456789abcdef, runId = x]"
    )
    honest = [
        ["recover", "", "orders", False, 0],
        ["recover", "", "orders", True, 0],
        ["begin", "/orders", 1, "MicroBatchExecution", "ProcessingTimeTrigger(0)", thread],
        ["intent", "/orders", 1, 2, journal],
        ["commit", "/orders", 1, 2, journal + large],
        ["fetch", "/orders", 1, "state/0/0/1.delta", ""],
        [
            "fetch",
            "/orders",
            1,
            "state/0/0/2.zip",
            f"4096 {'ab' * 32} 7 checkpoints/files/000001/x",
        ],
        ["sign", "/orders", 1, 4096, "ab" * 32, ""],
        ["finish", "/orders", 1, "checkpoints/files/000001/x", "e1 e2"],
        ["end", "/orders", 7],
    ]
    return tuple(orjson.dumps(each) for each in honest)


def _call(data: bytes) -> tuple[str, list[object]] | None:
    """What py4j would let through: a method that is there, and arguments of Java's types."""
    try:
        found = orjson.loads(data)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(found, list) or not found or str(found[0]) not in _TYPES:
        return None
    types, arguments = _TYPES[found[0]], found[1:]
    if len(arguments) != len(types) or not all(map(_is_of, arguments, types)):
        return None
    return found[0], arguments


def _is_of(value: object, kind: type) -> bool:
    return type(value) is kind and (not isinstance(value, int) or -_LONG <= value < _LONG)
