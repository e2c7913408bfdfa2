"""A Spark session for tests: small, quiet, without a web page."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from pyspark.sql import SparkSession

import holdfast
from tests.spark.shim import require_fresh_shim

if TYPE_CHECKING:
    from collections.abc import Mapping

QUIET = {
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.log.level": "ERROR",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.streaming.pollingDelay": "10ms",
    "spark.sql.session.timeZone": "UTC",
}


def builder(
    conf: Mapping[str, str] | None = None, *, master: str = "local[2]"
) -> SparkSession.Builder:
    """What every session of a test has."""
    require_fresh_shim()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    made = SparkSession.builder.master(master).appName("holdfast-tests")
    for key, value in {**QUIET, **(conf or {})}.items():
        made = made.config(key, value)
    return made


def new_session(
    store: str, conf: Mapping[str, str] | None = None, *, master: str = "local[2]"
) -> SparkSession:
    return holdfast.session(builder(conf, master=master), store=store)
