"""What a driver on a cluster can be told to do, beside `tests.spark.tasks`; answers are JSON."""

from __future__ import annotations

import os
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql.types import IntegerType, LongType

import holdfast
from tests.cluster.traps import wait_in
from tests.spark import queries, tasks

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_OURS = ("fs.holdfast.", "fs.AbstractFileSystem.holdfast.")


def count_to_nothing(folder: str, location: str) -> None:
    """Start the count with a sink that keeps nothing, and wait until the input is used up."""
    writer = queries.counted(tasks.spark(), folder).writeStream.outputMode("update").format("noop")
    writer.option("checkpointLocation", location).start().processAllAvailable()


def start_trapped(
    folder: str, database: str, location: str, *, tasks_in: str = "", sink_in: str = ""
) -> None:
    """Start the count; tasks wait in one trap before their state is written, the sink in another.

    When the sink waits, all tasks of its batch are done, and the batch is not committed.
    """
    spark = tasks.spark()
    spark.udf.registerJavaFunction("trap", "probe.Trap", LongType())
    passing = f"trap(count, '{tasks_in}') AS count" if tasks_in else "count"

    def write(df: DataFrame, batch_id: int, txn: Any) -> None:
        queries.write_counts(df, batch_id, txn)
        if sink_in:
            wait_in(Path(sink_in), os.getpid())

    sink = holdfast.exactly_once(write, queries.ledger(database))
    df = queries.counted(spark, folder).selectExpr("sku", passing)
    writer = df.writeStream.outputMode("update").foreachBatch(sink)
    tasks.start(writer, location)


def read_state(location: str) -> dict[str, int]:
    """The counts by SKU, as Spark's reader of state stores finds them; it claims nothing."""
    rows = tasks.spark().read.format("statestore").load(location).collect()
    return {row["key"]["sku"]: row["value"]["count"] for row in rows}


def read_metadata(location: str) -> list[str]:
    """The stateful operators, as Spark's reader of state metadata finds them."""
    rows = tasks.spark().read.format("state-metadata").load(location).collect()
    return [row["operatorName"] for row in rows]


def read_files(path: str) -> list[str]:
    """The texts of all files in a directory, read by tasks."""
    rows = tasks.spark().read.format("binaryFile").load(path).orderBy("path").collect()
    return [bytes(row["content"]).decode() for row in rows]


def listen() -> dict[str, Any]:
    """Open the door in some executor; its port, and what tasks have in their configuration."""
    spark = tasks.spark()
    spark.udf.registerJavaFunction("probe", "probe.Probe", IntegerType())
    rows = spark.range(0, 1, numPartitions=1).selectExpr("probe(id) as port").collect()
    conf: Any = spark.sparkContext._jsc.hadoopConfiguration()
    ours = [each for each in conf.iterator() if each.getKey().startswith(_OURS)]
    return {
        "port": rows[0]["port"],
        "conf": "\0".join(f"{e.getKey()}={e.getValue()}" for e in ours),
    }


def answer(message: str) -> str:
    """What the driver answers to a message of an executor; both in hexadecimal digits."""
    jvm: Any = tasks.spark().sparkContext._jvm
    return bytes(jvm.holdfast.Bridge.answer(bytearray.fromhex(message))).hex()


def environment_page() -> str:
    """What Spark's page shows of the settings, as it tells programs."""
    context = tasks.spark().sparkContext
    address = f"{context.uiWebUrl}/api/v1/applications/{context.applicationId}/environment"
    with urllib.request.urlopen(address, timeout=30) as answer:
        text: str = answer.read().decode()
    return text
