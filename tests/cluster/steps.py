"""What a driver on a cluster can be told to do, beside `tests.spark.tasks`; answers are JSON."""

from __future__ import annotations

import urllib.request
from typing import Any

from pyspark.sql.types import IntegerType

from tests.spark import tasks
from tests.spark.queries import counted

_OURS = ("fs.holdfast.", "fs.AbstractFileSystem.holdfast.")


def count_to_nothing(folder: str, location: str) -> None:
    """Start the count with a sink that keeps nothing, and wait until the input is used up."""
    writer = counted(tasks.spark(), folder).writeStream.outputMode("update").format("noop")
    writer.option("checkpointLocation", location).start().processAllAvailable()


def read_state(location: str) -> dict[str, int]:
    """The counts by SKU, as Spark's reader of state stores finds them; it claims nothing."""
    rows = tasks.spark().read.format("statestore").load(location).collect()
    return {row["key"]["sku"]: row["value"]["count"] for row in rows}


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
