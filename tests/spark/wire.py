"""Messages of executors as bytes, written here by hand so that a test can write wrong ones."""

from __future__ import annotations

import itertools
import struct
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

VERSION = 2
STAT, LIST, OPEN, MKDIRS, PUBLISH, RENAME, DELETE, SIGN, SETTINGS, LOADED, FINISH = range(1, 12)
OK, ABSENT, AGAIN, NOT_FOUND, EXISTS, NOT_EMPTY, NOT_DIRECTORY, ERROR = range(8)
FINAL = {OK, ABSENT, NOT_FOUND, EXISTS, NOT_EMPTY, NOT_DIRECTORY, ERROR}
_NONCES = itertools.count(1)
_SECONDS_MAX = 30


def number(value: int) -> bytes:
    return struct.pack(">q", value)


def text(value: str) -> bytes:
    encoded = value.encode()
    return struct.pack(">i", len(encoded)) + encoded


def flag(value: bool) -> bytes:  # noqa: FBT001 - as on the wire
    return b"\x01" if value else b"\x00"


def message(kind: int, path: str, *fields: bytes, store: str = "") -> bytes:
    """As `Executor.java` writes it."""
    head = bytes([VERSION]) + number(next(_NONCES)) + b"\x00" + bytes([kind])
    return head + text(store) + text(path) + b"".join(fields)


class Requests:
    """The driver's end; `ask` waits as an executor does."""

    def __init__(self, spark: SparkSession) -> None:
        jvm: Any = spark.sparkContext._jvm
        self._bridge = jvm.holdfast.Bridge

    def ask(self, body: bytes) -> tuple[int, bytes]:
        """What is answered, and its fields."""
        end = time.monotonic() + _SECONDS_MAX
        while True:
            answer = bytes(self._bridge.answer(bytearray(body)))
            if answer[0] != AGAIN or time.monotonic() > end:
                return answer[0], answer[1:]
            time.sleep(0.01)

    def refused(self, body: bytes) -> str:
        """The text with which a message is refused."""
        kind, rest = self.ask(body)
        assert kind == ERROR, (kind, rest)
        return rest[4:].decode()

    def ticket(self, body: bytes) -> list[str]:
        """The lines of a ticket: kind, key, size, hash, address, staging, then headers."""
        kind, rest = self.ask(body)
        assert kind == OK, rest
        count, at, lines = struct.unpack_from(">q", rest, 1)[0], 9, []
        for _ in range(count):
            size = struct.unpack_from(">i", rest, at)[0]
            lines.append(rest[at + 4 : at + 4 + size].decode())
            at += 4 + size
        return lines
