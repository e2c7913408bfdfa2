"""What a child process can be told to do; each returns something that JSON can carry."""

from __future__ import annotations

import dataclasses
import hashlib
import time
from typing import TYPE_CHECKING, Any

import holdfast
from tests.spark import queries
from tests.spark.session import new_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter

_SPARK: list[SparkSession] = []
_QUERIES: dict[str, StreamingQuery] = {}


def open_session(store: str, conf: dict[str, str], master: str = "local[2]") -> int:
    """Returns the JVM's process id."""
    _SPARK.append(new_session(store, conf, master=master))
    gateway: Any = _SPARK[0].sparkContext._gateway
    return int(gateway.proc.pid)


def spark() -> SparkSession:
    return _SPARK[0]


def start_count(
    folder: str, database: str, location: str, *, available_now: bool = False, delay_s: float = 0
) -> str:
    """Start the count; returns the query's id."""
    writer = queries.count_writer(spark(), folder, database, location, delay_s=delay_s)
    return start(writer, location, available_now=available_now)


def start(writer: DataStreamWriter, location: str, *, available_now: bool = False) -> str:
    """Start a query that others of these functions know by its location; returns its id."""
    trigger: dict[str, Any] = (
        {"availableNow": True} if available_now else {"processingTime": "0 seconds"}
    )
    query = writer.option("checkpointLocation", location).trigger(**trigger).start()
    _QUERIES[location] = query
    return str(query.id)


def finish_count(folder: str, database: str, location: str) -> None:
    """Everything that is there, then stop."""
    start_count(folder, database, location, available_now=True)
    _QUERIES[location].awaitTermination()


def start_orders(folder: str, database: str, location: str) -> None:
    """Start the query that writes every order."""
    start(queries.orders_writer(spark(), folder, database, location), location)


def finish_orders(folder: str, database: str, location: str) -> None:
    """Every order that is there, then stop."""
    queries.run_to_end(queries.orders_writer(spark(), folder, database, location))


def wait_for_batch(location: str, batch: int, seconds: float = 90) -> None:
    """Wait until this batch is committed, or the query fails."""
    end = time.monotonic() + seconds
    name = location.removeprefix("holdfast:///")
    while holdfast.status(name).batch < batch:
        query = _QUERIES[location]
        if query.exception() is not None:
            raise RuntimeError(str(query.exception()))
        if time.monotonic() > end:
            raise TimeoutError(f"batch {batch} is not committed: {holdfast.status(name)}")
        time.sleep(0.01)


def await_exception(location: str, seconds: float = 60) -> str:
    """The text with which the query stops."""
    query = _QUERIES[location]
    end = time.monotonic() + seconds
    while query.isActive:
        if time.monotonic() > end:
            raise TimeoutError("the query goes on")
        time.sleep(0.02)
    error = query.exception()
    return "" if error is None else str(error)


def stop(location: str) -> None:
    _QUERIES[location].stop()


def messages() -> dict[str, int]:
    """How many messages executors have sent, by kind."""
    jvm: Any = spark().sparkContext._jvm
    return parse_messages(jvm.holdfast.Bridge.messages())


def parse_messages(text: str) -> dict[str, int]:
    """As Java writes a map."""
    pairs = text.strip("{}").split(", ")
    return {name: int(count) for name, _, count in (pair.partition("=") for pair in pairs if pair)}


def status(name: str) -> dict[str, Any]:
    return dataclasses.asdict(holdfast.status(name))


def dump(location: str) -> list[list[Any]]:
    """Every file and directory below a location: path, kind, size, time, and hash of its bytes."""
    jvm: Any = spark().sparkContext._jvm
    conf = spark().sparkContext._jsc.hadoopConfiguration()
    root = jvm.org.apache.hadoop.fs.Path(location)
    files = root.getFileSystem(conf)
    found: list[list[Any]] = []

    def walk(path: Any) -> None:
        for status in files.listStatus(path):
            name = status.getPath().toUri().getPath()
            if status.isDirectory():
                found.append([name, "directory", 0, status.getModificationTime(), ""])
                walk(status.getPath())
            else:
                body = _read(files, status)
                digest = hashlib.sha256(body).hexdigest()
                size = status.getLen()
                found.append([name, "file", size, status.getModificationTime(), digest])

    walk(root)
    return sorted(found)


def _read(files: Any, status: Any) -> bytes:
    stream = files.open(status.getPath())
    try:
        jvm: Any = spark().sparkContext._jvm
        return bytes(jvm.org.apache.commons.io.IOUtils.toByteArray(stream))
    finally:
        stream.close()


def settle(seconds: float) -> None:
    """Let maintenance and upkeep run."""
    time.sleep(seconds)
