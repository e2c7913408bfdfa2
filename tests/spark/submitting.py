"""A job and how it is submitted: from an interpreter that does not know Holdfast."""

from __future__ import annotations

import importlib.metadata
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyspark

from tests.spark.orders import SCHEMA

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
# What `holdfast submit-args` prints, spliced in by the shell.
FLAGS = (
    f'$({sys.executable} -m holdfast.cli submit-args --store "$STORE" '
    f"{' '.join(f'--conf {each}' for each in QUIET)})"
)
_SUBMIT_SECONDS_MAX = 240


def bare_python(folder: Path) -> Path:
    """An interpreter that knows Spark and what Holdfast needs, and not Holdfast."""
    site = folder / "site"
    site.mkdir(parents=True)
    for name in NEEDED:
        for path in {file.parts[0] for file in importlib.metadata.files(name) or ()}:
            found = Path(str(importlib.metadata.distribution(name).locate_file(path)))
            if path != ".." and found.exists():
                (site / path).symlink_to(found)
    made = folder / "python"
    made.write_text(f'#!/bin/sh\nPYTHONPATH="$PYTHONPATH:{site}" exec {sys.executable} -S "$@"\n')
    made.chmod(0o755)
    return made


def spark_home(folder: Path) -> Path:
    """Spark as it is installed, in a directory in which executors may leave their work."""
    home = folder / "home"
    home.mkdir(parents=True)
    for path in Path(pyspark.__file__).parent.iterdir():
        (home / path.name).symlink_to(path)
    return home


def submitted(folder: Path, *, master: str, store: str, orders: Path, python: Path) -> list[Any]:
    """Run the job with this as its directory; the counts, the last batch, and whose code ran."""
    command = f"spark-submit --master '{master}' {FLAGS} job.py '{orders}'"
    return _printed(_shell(command, folder, store, python))


def typed(folder: Path, *, master: str, store: str, orders: Path, python: Path) -> list[Any]:
    """The same in the shell of pyspark, whose session is there when the first line is typed."""
    said = f"import sys; sys.argv = ['job.py', '{orders}']\nexec(open('job.py').read())\n"
    return _printed(_shell(f"pyspark --master '{master}' {FLAGS}", folder, store, python, said))


def _shell(command: str, folder: Path, store: str, python: Path, said: str = "") -> str:
    (folder / "job.py").write_text(JOB)
    ran = subprocess.run(
        ["bash", "-euc", command],
        env={
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "PYSPARK_PYTHON": str(python),
            "SPARK_HOME": str(spark_home(folder)),
            "STORE": store,
            "XDG_CACHE_HOME": str(folder / "cache"),
        },
        cwd=folder,
        input=said,
        capture_output=True,
        text=True,
        check=False,
        timeout=_SUBMIT_SECONDS_MAX,
    )
    assert ran.returncode == 0, ran.stderr[-4000:]
    return ran.stdout


def _printed(text: str) -> list[Any]:
    """The job's line, behind a shell's prompts."""
    lines = (line.lstrip("> ") for line in text.splitlines())
    found: list[Any] = json.loads(next(line for line in lines if line.startswith("[{")))
    return found
