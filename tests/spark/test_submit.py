"""A job that is submitted with the flags that `holdfast submit-args` prints."""

from __future__ import annotations

import importlib.metadata
import json
import os
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest

from tests.spark.orders import SCHEMA, counts_by_sku, write_orders

JOB = f"""
import json, sys
from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
import holdfast
holdfast.enable(spark)
assert holdfast.session(SparkSession.builder).sparkContext is spark.sparkContext
orders = spark.readStream.schema("{SCHEMA}").option("maxFilesPerTrigger", 1).json(sys.argv[1])
query = (orders.groupBy("sku").count().writeStream.outputMode("complete")
    .format("memory").queryName("counts").trigger(availableNow=True)
    .option("checkpointLocation", "holdfast:///orders").start())
query.awaitTermination()
counts = {{row["sku"]: row["count"] for row in spark.table("counts").collect()}}
print(json.dumps([counts, holdfast.status(query).batch, holdfast.__file__]))
spark.stop()
"""
# What --py-files cannot carry, and what Spark itself is.
NEEDED = ("lz4", "orjson", "google-crc32c", "pyspark", "py4j")
QUIET = ("spark.ui.enabled=false", "spark.driver.host=127.0.0.1", "spark.sql.shuffle.partitions=2")
_SUBMIT_SECONDS_MAX = 180


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """An interpreter that knows Spark and what Holdfast needs, and not Holdfast."""
    site = tmp_path / "site"
    site.mkdir()
    for name in NEEDED:
        for path in {file.parts[0] for file in importlib.metadata.files(name) or ()}:
            found = Path(str(importlib.metadata.distribution(name).locate_file(path)))
            if path != ".." and found.exists():
                (site / path).symlink_to(found)
    made = tmp_path / "python"
    made.write_text(f'#!/bin/sh\nPYTHONPATH="$PYTHONPATH:{site}" exec {sys.executable} -S "$@"\n')
    made.chmod(0o755)
    return made


@pytest.fixture
def spark_home(tmp_path: Path) -> Path:
    """Spark as it is installed, in a directory in which executors may leave their work."""
    home = tmp_path / "home"
    home.mkdir()
    for path in Path(pyspark.__file__).parent.iterdir():
        (home / path.name).symlink_to(path)
    return home


@pytest.fixture
def environment(python: Path, spark_home: Path, store: str, tmp_path: Path) -> dict[str, str]:
    """With Spark's and our own commands on the path."""
    write_orders(tmp_path / "orders", files=2)
    (tmp_path / "job.py").write_text(JOB)
    return {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYSPARK_PYTHON": str(python),
        "SPARK_HOME": str(spark_home),
        "STORE": store,
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }


def flags() -> str:
    """What `holdfast submit-args` prints, spliced in by the shell."""
    settings = " ".join(f"--conf {each}" for each in QUIET)
    return f'$({sys.executable} -m holdfast.cli submit-args --store "$STORE" {settings})'


def shell(command: str, environment: dict[str, str], folder: Path, said: str = "") -> str:
    """What a command line prints."""
    ran = subprocess.run(
        ["bash", "-euc", command],
        env=environment,
        cwd=folder,
        input=said,
        capture_output=True,
        text=True,
        check=False,
        timeout=_SUBMIT_SECONDS_MAX,
    )
    assert ran.returncode == 0, ran.stderr[-4000:]
    return ran.stdout


def test_a_submitted_job_runs_on_holdfast(
    python: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    """The package comes by --py-files and the shim by --jars, to executors of their own too."""
    bare = [str(python), "-c", "import pyspark, holdfast"]
    assert (
        "No module named 'holdfast'"
        in subprocess.run(bare, capture_output=True, text=True, check=False).stderr
    )
    command = f"spark-submit --master 'local-cluster[1,2,1024]' {flags()} job.py orders"
    printed = shell(command, environment, tmp_path)
    counts, batch, code = json.loads(printed.splitlines()[-1])
    assert (counts, batch) == (counts_by_sku(tmp_path / "orders"), 1)
    assert ".zip/holdfast/" in code


def test_the_same_flags_serve_the_shell_of_pyspark(
    environment: dict[str, str], tmp_path: Path
) -> None:
    """Its session is there already when the first line is typed."""
    said = "import sys; sys.argv = ['job.py', 'orders']\nexec(open('job.py').read())\n"
    printed = shell(f"pyspark --master 'local[2]' {flags()}", environment, tmp_path, said)
    answer = next(line for line in printed.splitlines() if line.lstrip("> ").startswith("[{"))
    counts, batch, _ = json.loads(answer.lstrip("> "))
    assert (counts, batch) == (counts_by_sku(tmp_path / "orders"), 1)
