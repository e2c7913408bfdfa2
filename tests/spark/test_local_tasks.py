"""In local mode, tasks run in the driver's process: they may write no more than executors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql.types import StringType

from tests.cluster import probes
from tests.spark.orders import write_orders
from tests.spark.queries import counted
from tests.spark.tasks import spark

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.spark.processes import Child

ROOT = "holdfast:///orders"
REFUSED = ["mkdirs offsets/9", "create sources/0/7", "delete commits/0", "rename metadata"]


def try_all(folder: str, attempts: list[str]) -> list[str]:
    """In a driver of its own: what tasks are told while a query runs."""
    writer = counted(spark(), folder).writeStream.outputMode("update").format("noop")
    query = writer.option("checkpointLocation", ROOT).start()
    query.processAllAvailable()
    spark().udf.registerJavaFunction("mischief", "probe.Mischief", StringType())
    pairs = (attempt.split(" ") for attempt in attempts)
    rows = spark().createDataFrame(
        [(verb, f"{ROOT}/{path}") for verb, path in pairs], "v string, p string"
    )
    told = [row["told"] for row in rows.selectExpr("mischief(v, p) AS told").collect()]
    query.stop()
    return told


def test_a_task_writes_only_below_state(
    child: Callable[..., Child], store: str, tmp_path: Path
) -> None:
    """Whatever the verb; below state it may."""
    write_orders(tmp_path / "orders", files=2)
    driver = child()
    driver.start(store, **{"spark.jars": str(probes.build(tmp_path / "probe.jar"))})
    *refused, allowed = driver.call(
        "tests.spark.test_local_tasks:try_all",
        folder=str(tmp_path / "orders"),
        attempts=[*REFUSED, "create state/0/0/extra"],
    )
    assert [text.partition(",")[0] for text in refused] == [
        "MisuseError: a task writes only below state/"
    ] * len(REFUSED)
    assert allowed == "done"
