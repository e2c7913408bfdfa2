"""A user who can only open a socket to the driver's host plans, commits and reads nothing."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import holdfast
from holdfast.spark.bridge import PythonSide
from tests.spark.orders import counts_by_sku, write_orders
from tests.spark.processes import wait_until
from tests.spark.queries import count_writer, make_tables, read_counts, read_doubled

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NOBODY = 65534
GUESS = "0" * 64
LOCATION = "holdfast:///orders"
LISTENER = ("onQueryStarted", "onQueryProgress", "onQueryIdle", "onQueryTerminated")


def methods() -> dict[str, int]:
    """The methods of the interface, and how many arguments each takes."""
    found = inspect.getmembers(PythonSide, inspect.isfunction)
    return {
        name: len(inspect.signature(method).parameters) - 1
        for name, method in found
        if not name.startswith("_")
    }


def forgeries(claim: int, batch: int) -> dict[str, list[object]]:
    """What a forger would say to each method, without a secret."""
    run: list[object] = ["/orders", claim]
    hashes = "ab" * 32
    return {
        "recover": ["", "orders", True, 0],
        "begin": [*run, "MicroBatchExecution", "ProcessingTimeTrigger", "forged"],
        "intent": [*run, batch, ""],
        "commit": [*run, batch, ""],
        "fetch": [*run, "metadata", ""],
        "sign": [*run, 4096, hashes, ""],
        "finish": [*run, "checkpoints/files/000001/x", "tag"],
        "end": run,
    }


def forge(
    spark: SparkSession, calls: list[list[object]], *, ids: list[str] | None = None
) -> dict[str, dict[str, str]]:
    """Make these calls on some objects, or on every one that the callback server may know."""
    gateway: Any = spark.sparkContext._gateway
    server = gateway._callback_server
    order = {
        "port": server.server_socket.getsockname()[1],
        "uid": NOBODY,
        "ids": ids or [f"p{number}" for number in range(server.pool.next_id + 1)],
        "calls": calls,
    }
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("forger.py"))],
        input=json.dumps(order),
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    told = json.loads(done.stdout)
    assert told["uid"] == NOBODY
    replies: dict[str, dict[str, str]] = told["replies"]
    return replies


def objects(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture(autouse=True)
def _root() -> None:
    if os.geteuid() != 0:
        pytest.skip("becoming another user needs root; CI has it")


class Victim:
    """A count that runs, into a database."""

    def __init__(self, spark: SparkSession, tmp_path: Path) -> None:
        self.folder, self.store = tmp_path / "orders", tmp_path / "store"
        self.database = str(tmp_path / "sink.db")
        make_tables(self.database)
        write_orders(self.folder, files=2)
        self.query = count_writer(spark, str(self.folder), self.database, LOCATION).start()
        self.query.processAllAvailable()

    def require_unharmed(self) -> None:
        """It goes on with its next batch, and a restart would take what it wrote."""
        write_orders(self.folder, files=1, first=2)
        self.query.processAllAvailable()
        assert read_counts(self.database) == counts_by_sku(self.folder)
        assert read_doubled(self.database) == []
        head = holdfast.Chain(holdfast.open_store(self.store.as_uri()), "orders").recover().head
        assert (head.batch, head.claim) == (2, holdfast.status(self.query).claim)
        self.query.stop()


def test_another_user_of_the_host_cannot_call_for_the_jvm(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Every method, with a guessed secret and without one, on every object id."""
    victim = Victim(spark, tmp_path)
    status = holdfast.status(victim.query)
    before = objects(victim.store)
    wanted = forgeries(status.claim, status.batch + 1)
    assert {name: len(arguments) + 1 for name, arguments in wanted.items()} == methods()
    calls = [[name, *arguments] for name, arguments in wanted.items()]
    calls += [[name, GUESS, *arguments] for name, arguments in wanted.items()]
    replies = forge(spark, calls)
    taken = [
        (name, call, reply)
        for name, each in replies.items()
        for call, reply in each.items()
        if reply.startswith("!y") and not reply.startswith("!yserror\\nBridgeError")
    ]
    assert taken == []
    refused = [
        reply for each in replies.values() for reply in each.values() if "driver's secret" in reply
    ]
    assert len(refused) >= len(wanted)
    assert objects(victim.store) == before
    victim.require_unharmed()


def test_the_secret_is_neither_read_nor_replaced_by_name(
    spark: SparkSession, tmp_path: Path
) -> None:
    """py4j looks any name up on the object: `__init__` and `__getattribute__`, too."""
    victim = Victim(spark, tmp_path)
    private: list[list[object]] = [
        ["__init__", "host", GUESS],
        ["__class__", "host", GUESS],
        ["__setattr__", "_guard", GUESS],
        ["__delattr__", "_guard"],
        ["__getattribute__", "_guard"],
        ["__repr__"],
        ["_guard"],
    ]
    asked = forge(spark, [["end", GUESS, "/orders", 1]])
    ours = [name for name, replies in asked.items() if "driver's secret" in str(replies)]
    assert ours
    for name, replies in forge(spark, private, ids=ours).items():
        assert [call for call, reply in replies.items() if not reply.startswith("!x")] == [], name
    victim.require_unharmed()


def test_a_forged_event_of_spark_s_listener_changes_nothing(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Spark's own interface has no room for a secret; what is no event is not taken for one."""
    victim = Victim(spark, tmp_path)
    wait_until(lambda: holdfast.status(victim.query).input_rows == 40, "Spark's listener")
    before = holdfast.status(victim.query)
    forge(spark, [[name, event] for name in LISTENER for event in ("{}", 7, None)])
    assert holdfast.status(victim.query) == before
    victim.require_unharmed()
