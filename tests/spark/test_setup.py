"""A session that is not set up as it must be: one clear error, never a hang."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.spark.scripts import run_script

if TYPE_CHECKING:
    from pathlib import Path

HEAD = """
import holdfast
from pyspark.sql import SparkSession
def told(action):
    try:
        action()
    except Exception as error:
        print(f"{type(error).__name__}: {error}")
"""
NEVER_ENABLED = """
spark = holdfast.configure(SparkSession.builder, store="memory:").getOrCreate()
rows = spark.readStream.format("rate").load()
writer = rows.writeStream.format("noop").option("checkpointLocation", "holdfast:///orders")
told(lambda: writer.start().awaitTermination())
"""
OTHER_VERSION = """
import holdfast.spark.bridge
holdfast.spark.bridge.VERSION = "9.9.9"
told(lambda: holdfast.enable(spark))
"""
WITHOUT_THE_JAR = """
spark = SparkSession.builder.getOrCreate()
told(lambda: holdfast.configure(SparkSession.builder, store="memory:"))
told(lambda: holdfast.enable(spark))
"""
CONNECT = """
spark = SparkSession.builder.remote("local").getOrCreate()
told(lambda: holdfast.enable(spark))
spark.stop()
"""


def test_a_session_that_was_never_enabled_is_told_the_line_to_add(tmp_path: Path) -> None:
    """At the first touch of the filesystem; so is a jar of another version, when it is enabled."""
    never, _, other = run_script(HEAD + NEVER_ENABLED + OTHER_VERSION, tmp_path).rpartition(
        "Bridge"
    )
    assert "holdfast.enable(spark)" in never
    assert other.startswith("Error: the jar and the Python package are of different versions")
    assert "9.9.9" in other


def test_a_jvm_that_runs_without_the_jar_cannot_be_helped(tmp_path: Path) -> None:
    """And both calls say what to do instead."""
    for line in run_script(HEAD + WITHOUT_THE_JAR, tmp_path).splitlines()[-2:]:
        assert line.startswith("BridgeError: the JVM of this process does not have Holdfast's jar")
        assert "start a new process" in line


def test_a_spark_connect_session_is_refused(tmp_path: Path) -> None:
    """It has no driver in this process."""
    assert "BridgeError: a Spark Connect session has no JVM" in run_script(HEAD + CONNECT, tmp_path)
