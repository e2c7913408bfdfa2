"""What executors may send to a driver: any bytes are answered, soon, and nothing else breaks."""

from __future__ import annotations

import random
import struct
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.fuzz.mutations import mutate
from tests.spark.orders import counts_by_sku, write_orders
from tests.spark.queries import count_writer, make_tables, read_counts, run_to_end

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession

INPUTS = 600
ANSWER_SECONDS_MAX = 10
STAT, LIST, OPEN, MKDIRS, PUBLISH, RENAME, DELETE, SIGN, SETTINGS, LOADED, FINISH = range(1, 12)
AGAIN, ERROR = 2, 7


def text(value: str) -> bytes:
    return struct.pack(">i", len(value.encode())) + value.encode()


def number(value: int) -> bytes:
    return struct.pack(">q", value)


def message(kind: int, rest: bytes = b"", *, path: str = "orders/state/0/0/1.delta") -> bytes:
    """As an executor writes it: version, a number of its own, whether it maintains, the kind."""
    place = b"" if kind == SETTINGS else text("") + text(path)
    return b"\1" + number(kind) + b"\0" + bytes([kind]) + place + rest


HONEST = (
    message(SETTINGS),
    message(STAT),
    message(LIST, path="orders/state/0/0"),
    message(OPEN),
    message(OPEN, path="gone/state/0/0/1.delta"),
    message(MKDIRS, number(1)),
    message(PUBLISH, number(1) + b"\1\1" + text("body")),
    message(PUBLISH, number(1) + b"\1\0" + text("checkpoints/files/1/x") + number(9) + text("ab")),
    message(RENAME, text("orders/state/0/0/2.delta") + b"\1" + number(1)),
    message(DELETE, b"\1" + number(1)),
    message(SIGN, number(1) + number(4096) + text("ab" * 32)),
    message(FINISH, number(1) + text("checkpoints/files/1/x") + text("e")),
    message(LOADED, number(3) + number(7)),
)


@pytest.fixture
def ask(spark: SparkSession) -> Callable[[bytes], bytes]:
    """The driver's desk, which Spark calls with what executors send."""
    gateway: Any = spark.sparkContext._gateway
    jvm: Any = spark.sparkContext._jvm
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()

    def method(name: str, owner: Any, *types: Any) -> Any:
        kinds = gateway.new_array(jvm.java.lang.Class, len(types))
        for place, kind in enumerate(types):
            kinds[place] = kind
        found = owner.getDeclaredMethod(name, kinds)
        found.setAccessible(True)
        return found

    def invoke(found: Any, target: Any, *values: Any) -> Any:
        arguments = gateway.new_array(jvm.java.lang.Object, len(values))
        for place, value in enumerate(values):
            arguments[place] = value
        return found.invoke(target, arguments)

    desk = invoke(method("desk", loader.loadClass("holdfast.Registry")), None)
    answer = method("answer", desk.getClass(), loader.loadClass("java.lang.Object"))
    return lambda sent: bytes(invoke(answer, desk, sent))


def answered(ask: Callable[[bytes], bytes], sent: bytes) -> bytes:
    """Ask again until there is an answer, as an executor does."""
    end = time.monotonic() + ANSWER_SECONDS_MAX
    while (found := ask(sent))[0] == AGAIN:
        assert time.monotonic() < end, f"no answer to {sent!r}"
        time.sleep(0.01)
    return found


def test_any_bytes_are_answered_and_the_driver_goes_on(
    spark: SparkSession, ask: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    """An answer of a known kind to each; another query in the same driver is exact afterwards."""
    folder, database = tmp_path / "orders", str(tmp_path / "sink.db")
    make_tables(database)
    write_orders(folder, files=2)
    running = count_writer(spark, str(folder), database, "holdfast:///orders").start()
    running.processAllAvailable()
    dice = random.Random(1)
    for sent in [*HONEST, *(mutate(dice.choice(HONEST), dice, HONEST) for _ in range(INPUTS))]:
        found = answered(ask, sent)
        assert found[0] <= ERROR, (sent, found)
        assert b"a defect in holdfast" not in found, (sent, found)
    running.stop()
    other = str(tmp_path / "other.db")
    make_tables(other)
    run_to_end(count_writer(spark, str(folder), other, "holdfast:///other"))
    assert read_counts(other) == counts_by_sku(folder)


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"\1", id="a version alone"),
        pytest.param(b"\2" + HONEST[1][1:], id="another version"),
        pytest.param(HONEST[3][:-1], id="cut short"),
        pytest.param(b"\xff" * 40, id="noise"),
    ],
)
def test_what_is_no_message_is_refused_with_a_sentence(
    ask: Callable[[bytes], bytes], sent: bytes
) -> None:
    """Not with silence, and not with an exception."""
    assert answered(ask, sent)[0] == ERROR
