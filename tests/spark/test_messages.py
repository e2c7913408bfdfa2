"""What executors say is checked: a strange message is refused, and the driver goes on."""

from __future__ import annotations

import hashlib
import random
import struct
from typing import TYPE_CHECKING, Any

import pytest

import holdfast
from tests.fuzz.mutations import mutate
from tests.spark import wire
from tests.spark.orders import counts_by_sku, write_orders
from tests.spark.queries import (
    count_writer,
    counted,
    make_tables,
    read_counts,
    run_to_end,
)
from tests.spark.wire import Requests, flag, message, number, text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

SHA256 = hashlib.sha256(b"x").hexdigest()
INPUTS = 600


class Running:
    """A query that runs, the driver's end of its messages, and the number of its start."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self._spark, self._folder = spark, folder
        self.driver = Requests(spark)
        write_orders(folder, files=1)
        self.query = self.start()
        self.writer = self.number()

    def start(self) -> StreamingQuery:
        made = counted(self._spark, str(self._folder)).writeStream.outputMode("update")
        query = made.format("noop").option("checkpointLocation", "holdfast:///q").start()
        query.processAllAvailable()
        return query

    def go_on(self) -> None:
        """The next batch is planned, run and committed."""
        batch = holdfast.status(self.query).batch
        write_orders(self._folder, files=1, first=batch + 1)
        self.query.processAllAvailable()
        assert holdfast.status(self.query).batch == batch + 1

    def number(self) -> int:
        """As Spark hands it to tasks, in the Hadoop configuration."""
        conf: Any = self._spark.sparkContext._jsc.hadoopConfiguration()
        pairs = (line.split(" ") for line in conf.get("fs.holdfast.writers").splitlines())
        return next(int(writer) for writer, query in pairs if query == "/q")

    def publish(self, path: str, body: bytes = b"x", writer: int | None = None) -> bytes:
        by = number(self.writer if writer is None else writer)
        small = struct.pack(">i", len(body)) + body
        return message(wire.PUBLISH, path, by, flag(True), flag(True), small)

    def sign(self, path: str = "q/state/0/0/9.zip", writer: int | None = None) -> bytes:
        by = number(self.writer if writer is None else writer)
        return message(wire.SIGN, path, by, number(1), text(SHA256), text(""))

    def honest(self) -> dict[str, bytes]:
        """A message of each kind that the driver takes."""
        by = number(self.writer)
        key = text("checkpoints/files/000001/x")
        return {
            "stat": message(wire.STAT, "q/metadata"),
            "list": message(wire.LIST, "q/state/0/0"),
            "open": message(wire.OPEN, "q/metadata"),
            "mkdirs": message(wire.MKDIRS, "q/state/made", by),
            "publish": self.publish("q/state/small"),
            "rename": message(wire.RENAME, "q/state/small", text("q/state/other"), flag(True), by),
            "delete": message(wire.DELETE, "q/state/other", flag(False), by),
            "sign": self.sign(),
            "finish": message(wire.FINISH, "q/state/0/0/9.zip", by, key, text("tag")),
            "loaded": message(wire.LOADED, "q/state/0/0", number(1), number(1)),
        }


@pytest.fixture
def running(spark: SparkSession, tmp_path: Path) -> Iterator[Running]:
    made = Running(spark, tmp_path / "orders")
    yield made
    made.query.stop()


def test_no_part_of_a_message_is_taken_for_the_whole(running: Running) -> None:
    """Every kind, cut off after every byte; the query goes on."""
    before = running.driver.ask(message(wire.LIST, "q"))
    for name, whole in running.honest().items():
        for length in range(len(whole)):
            kind, rest = running.driver.ask(whole[:length])
            assert kind == wire.ERROR, (name, length, rest)
    assert running.driver.ask(message(wire.LIST, "q")) == before
    assert running.query.isActive


def test_any_bytes_are_answered_and_the_driver_goes_on(
    spark: SparkSession, running: Running, tmp_path: Path
) -> None:
    """Soon, and never by a defect; another query in the same driver is exact afterwards."""
    dice, honest = random.Random(1), list(running.honest().values())
    for _ in range(INPUTS):
        sent = mutate(dice.choice(honest), dice, honest)
        kind, rest = running.driver.ask(sent)
        assert kind in wire.FINAL, (sent, rest)
        assert b"a defect in holdfast" not in rest, (sent, rest)
    database = str(tmp_path / "sink.db")
    make_tables(database)
    run_to_end(count_writer(spark, str(tmp_path / "orders"), database, "holdfast:///other"))
    assert read_counts(database) == counts_by_sku(tmp_path / "orders")


def test_nothing_may_follow_a_message(running: Running) -> None:
    """One byte more than it says, of every kind."""
    for whole in running.honest().values():
        assert "longer than it says" in running.driver.refused(whole + b"\x00")


@pytest.mark.parametrize("length", [-1, 2**20 + 1, 2**31 - 1])
def test_a_length_is_not_believed(running: Running, length: int) -> None:
    """Nothing is reserved for what is not there."""
    head = bytes([wire.VERSION]) + number(1) + b"\x00" + bytes([wire.STAT])
    assert "impossible length" in running.driver.refused(head + struct.pack(">i", length) + b"q")


@pytest.mark.parametrize(
    "path", ["q/../other", "/q", "q//x", "q/./x", "q/a\nb", "q/" + "x" * 5000, "q" + "/x" * 70]
)
def test_a_path_is_normal_and_bounded(running: Running, path: str) -> None:
    """Whatever is done at it."""
    for kind in (wire.STAT, wire.LIST, wire.OPEN):
        assert "ConfigError: a path" in running.driver.refused(message(kind, path))
    assert "ConfigError: a path" in running.driver.refused(running.publish(path))


def test_what_is_no_message_of_this_version_is_refused(running: Running) -> None:
    """Another version, a kind that does not exist, a flag that is none."""
    whole = message(wire.STAT, "q")
    assert "speaks version 9" in running.driver.refused(b"\x09" + whole[1:])
    assert "does not know" in running.driver.refused(message(99, "q"))
    assert "an invalid flag" in running.driver.refused(whole[:9] + b"\x07" + whole[10:])


@pytest.mark.parametrize(
    "path",
    ["", "/metadata", "/offsets", "/offsets/1", "/commits/0", "/sources/0/7", "/made", "/state"],
)
def test_an_executor_writes_only_below_state(running: Running, path: str) -> None:
    """With any verb; what it may not write, it can still read."""
    driver, by, at = running.driver, number(running.writer), f"q{path}"
    before = driver.ask(message(wire.STAT, at))
    assert driver.ask(running.publish("q/state/loose"))[0] == wire.OK
    for body in (
        message(wire.MKDIRS, at, by),
        running.publish(at),
        message(wire.RENAME, at, text("q/state/taken"), flag(True), by),
        message(wire.RENAME, "q/state/loose", text(at), flag(True), by),
        message(wire.DELETE, at, flag(True), by),
        running.sign(at),
        message(wire.FINISH, at, by, text("any"), text("tag")),
        message(wire.LOADED, at, number(1), number(1)),
    ):
        assert "a task writes only below state/" in driver.refused(body)
    assert driver.ask(message(wire.STAT, at)) == before
    running.go_on()


def test_a_store_s_name_is_one_name(running: Running) -> None:
    """Or its first part would be taken for the store, and the rest for a path."""
    body = message(wire.STAT, "b/metadata", store="x/q")
    assert "a store's name" in running.driver.refused(body)


def test_who_belongs_to_no_start_or_to_an_earlier_one_writes_nothing(running: Running) -> None:
    """A task of a run that was stopped, or of none."""
    assert "no start that this driver knows" in running.driver.refused(
        running.publish("q/state/x", writer=0)
    )
    assert "no start that this driver knows" in running.driver.refused(running.sign(writer=0))
    running.query.stop()
    running.query = running.start()
    assert running.number() != running.writer  # drawn at random, and never 0
    assert min(running.number(), running.writer) > 1 << 32
    assert "FencedError" in running.driver.refused(running.publish("q/state/x"))
    assert "FencedError" in running.driver.refused(running.sign())
    assert running.driver.ask(message(wire.STAT, "q/state/x"))[0] == wire.ABSENT


def test_an_attempt_that_comes_after_the_commit_changes_nothing(running: Running) -> None:
    """Its state file's name is in a manifest: it is thanked, and what it wrote is dropped."""
    path = "q/state/0/0/1.delta"
    before = running.driver.ask(message(wire.OPEN, path))
    assert running.driver.ask(running.publish(path, b"of a task that lost"))[0] == wire.OK
    assert running.driver.ask(message(wire.OPEN, path)) == before


def test_a_ticket_is_for_one_key_under_the_claim(running: Running) -> None:
    """No one draws the same twice."""
    lines = running.driver.ticket(running.sign())
    claim = holdfast.status("q").claim
    assert lines[1].startswith(f"checkpoints/files/{claim:06}/")
    assert (lines[2], lines[3]) == ("1", SHA256)
    assert running.driver.ticket(running.sign())[1] != lines[1]


def test_only_queries_that_the_driver_has_opened_are_shown(
    running: Running, spark: SparkSession, tmp_path: Path
) -> None:
    """An executor cannot make it read, or sign for, any other on the same store."""
    other = holdfast.Chain(holdfast.open_store((tmp_path / "store").as_uri()), "other")
    other.claim()
    for body in (
        message(wire.OPEN, "other/metadata"),
        message(wire.LIST, "other"),
        running.sign("other/state/0/0/1.zip"),
        running.publish("other/state/x"),
    ):
        assert "has not opened" in running.driver.refused(body)


@pytest.mark.parametrize("key", ["/other/manifests/manifest-000001.json", "../../x", "a\tb\nx\tq"])
def test_a_large_file_is_published_only_with_its_ticket(running: Running, key: str) -> None:
    """Or an executor could name any key, and be given a ticket to read it."""
    fields = (number(running.writer), flag(True), flag(False))
    hashes = (text(SHA256), number(7))
    forged = message(wire.PUBLISH, "q/state/big", *fields, text(key), number(1), *hashes)
    assert "no ticket was given" in running.driver.refused(forged)
    signed = running.driver.ticket(running.sign())[1]
    other = message(wire.PUBLISH, "q/state/big", *fields, text(signed), number(2), *hashes)
    assert "no ticket was given" in running.driver.refused(other)
    wrong = (text(SHA256), number(1 << 32))
    forged = message(wire.PUBLISH, "q/state/big", *fields, text(signed), number(1), *wrong)
    assert "an invalid CRC-32" in running.driver.refused(forged)
    assert running.driver.ask(message(wire.STAT, "q/state/big"))[0] == wire.ABSENT


def test_hashes_that_are_none_are_not_signed(running: Running) -> None:
    """With a sentence, not as a defect."""
    by = number(running.writer)
    for size, hashes in ((0, SHA256), (-1, SHA256), (1, "zz"), (1, f"{SHA256} {SHA256}")):
        body = message(wire.SIGN, "q/state/big", by, number(size), text(hashes), text(""))
        assert "MisuseError: a large file has no such size" in running.driver.refused(body)
    begun = message(wire.SIGN, "q/state/big", by, number(1), text(SHA256), text("any"))
    assert "MisuseError: no such upload was begun" in running.driver.refused(begun)
    done = message(wire.FINISH, "q/state/big", by, text("any"), text("tag"))
    assert "MisuseError: no such upload was begun" in running.driver.refused(done)
