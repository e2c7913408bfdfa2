"""What a contender's own process is told to do; each call returns what JSON can carry."""

from __future__ import annotations

import time
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import holdfast
from tests.bench.contenders import LOCAL_MASTER
from tests.spark.session import builder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter

SCHEMA = "sku string, amount long"
_SESSION: list[SparkSession] = []
_RUNNING: list[StreamingQuery] = []
_COMMON = {
    "spark.driver.memory": "2g",
    "spark.sql.streaming.numRecentProgressUpdates": "1000",  # a count waits for more than 100
}
_POLL_S = 0.05


def open_session(conf: dict[str, str], master: str = LOCAL_MASTER) -> int:
    """Start Spark, with Holdfast where a store is set; returns the JVM's process id."""
    store = conf.pop("spark.holdfast.store", "")
    made = builder({**_COMMON, **conf}, master=master)
    spark = holdfast.session(made, store=store) if store else made.getOrCreate()
    _SESSION.append(spark)
    gateway: Any = spark.sparkContext._gateway
    return int(gateway.proc.pid)


def spark() -> SparkSession:
    return _SESSION[0]


def run_round(folder: str, location: str, conf: dict[str, str]) -> dict[str, Any]:
    """Start the query, let it take all the files there are, one a batch, and wait for its end."""
    writer = _writer(folder, location, conf)
    started = time.time()
    query = writer.trigger(availableNow=True).start()
    query.awaitTermination()
    return {"started_ms": started * 1000, "batches": _batches(query)}


def begin(folder: str, location: str, conf: dict[str, str]) -> None:
    """Start the query, to go on until it is ended."""
    _RUNNING.append(
        _writer(folder, location, conf).trigger(processingTime="0 seconds").start(),
    )


def wait_for(batches: int, seconds: float) -> None:
    """Until the running query has finished so many batches since its start."""
    query, end = _RUNNING[-1], time.monotonic() + seconds
    while len(_batches(query)) < batches:
        if query.exception() is not None:
            raise RuntimeError(str(query.exception()))
        if time.monotonic() > end:
            raise TimeoutError(f"{len(_batches(query))} of {batches} batches in {seconds} s")
        time.sleep(_POLL_S)


def finished() -> list[dict[str, Any]]:
    """What the running query has finished since its start."""
    return _batches(_RUNNING[-1])


def end() -> None:
    _RUNNING.pop().stop()


def status(name: str) -> dict[str, float]:
    """What Holdfast says of a query of this session."""
    found = holdfast.status(name)
    return {
        "requests": found.requests,
        "bytes_sent": found.bytes_sent,
        "checkpoints": found.checkpoints,
        "live_files": found.live_files,
        "seconds": found.seconds,
    }


def _writer(folder: str, location: str, conf: Mapping[str, str]) -> DataStreamWriter:
    """The stateful count: one file a batch, counted by SKU, to a sink that costs nothing."""
    for key, value in conf.items():
        spark().conf.set(key, value)
    reader = spark().readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
    counted = reader.json(folder).groupBy("sku").count()
    writer = counted.writeStream.outputMode("update").format("noop")
    return writer.option("checkpointLocation", location)


def _batches(query: StreamingQuery) -> list[dict[str, Any]]:
    """Every batch with rows: its number, when it ended, how long it took, and in which parts."""
    return [
        {
            "batch": each["batchId"],
            "ended_ms": _epoch_ms(each["timestamp"]) + each["durationMs"]["triggerExecution"],
            "ms": each["durationMs"]["triggerExecution"],
            "parts": dict(each["durationMs"]),
        }
        for each in query.recentProgress
        if each["numInputRows"]
    ]


def _epoch_ms(text: str) -> float:
    moment = datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=timezone.utc)
    return moment.timestamp() * 1000
