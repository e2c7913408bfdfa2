"""What `holdfast.start` hashes, for every kind of query, in two processes that must agree.

python -m tests.lines.plans FOLDER OUT [--disturbed] [--kafka JAR,JAR] [--delta]

describes every kind, and one real change of it, on whatever Spark this Python has. No query runs.
A disturbed process goes through the kinds in the opposite order, with other counters of Spark's,
more cores, other limits on texts, and files that have arrived since.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyspark
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from holdfast.sessions import config_hash
from holdfast.spark.start import describe
from tests.lines.kinds import KINDS
from tests.lines.registry import SECRET, Inputs, Kind

ROOT = Path(__file__).parents[2]
DELTA = "io.delta:delta-spark_2.13:4.1.0"
DISTURBED, WITH_KAFKA, WITH_DELTA = "--disturbed", "--kafka", "--delta"
_SECONDS_MAX = 600


def describe_twice(
    python: Path, folder: Path, *words: str, together: bool = True
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What two processes say, the second one disturbed; `together` on as many cores."""

    def run(name: str, seed: str, *more: str) -> dict[str, Any]:
        out = folder / f"{name}.json"
        done = subprocess.run(
            [str(python), "-m", "tests.lines.plans", str(folder), str(out), *words, *more],
            env={
                **os.environ,
                "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'python'}",
                "PYSPARK_PYTHON": str(python),
                "PYTHONHASHSEED": seed,
            },
            capture_output=True,
            text=True,
            timeout=_SECONDS_MAX,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-4000:]
        assert SECRET not in out.read_text()
        found: dict[str, Any] = json.loads(out.read_text())
        return found

    with ThreadPoolExecutor(2 if together else 1) as threads:
        first = threads.submit(run, "first", "1")
        second = threads.submit(run, "second", "2", DISTURBED)
        return first.result(), second.result()


def unstable(first: dict[str, Any], second: dict[str, Any]) -> list[str]:
    """The kinds that the two processes describe differently."""
    one, other = first["kinds"], second["kinds"]
    assert one.keys() == other.keys()
    return [name for name in one if one[name] != other[name]]


def unseen(found: dict[str, Any]) -> list[str]:
    """The kinds of which a real change does not change the hash."""
    return [name for name, each in found["kinds"].items() if each["hash"] == each["changed"]]


def main(words: list[str]) -> None:
    folder, out, *options = words
    disturbed = DISTURBED in options
    has = {word.removeprefix("--") for word in options if word in (WITH_KAFKA, WITH_DELTA)}
    make_files(Path(folder), more=disturbed)
    spark = session(Path(folder), options)
    if disturbed:
        disturb(spark)
    names = [name for name, each in KINDS.items() if is_here(each, has)]
    found = {name: both(spark, Path(folder), name) for name in names[:: -1 if disturbed else 1]}
    Path(out).write_text(json.dumps({"spark": pyspark.__version__, "kinds": found}))


def is_here(each: Kind, has: set[str]) -> bool:
    """Whether this Spark has it, and this process the jars that it needs."""
    version = tuple(int(part) for part in pyspark.__version__.split(".")[:2])
    return version >= each.since and (each.needs in has if each.needs else not has)


def make_files(folder: Path, *, more: bool) -> None:
    for name in ("orders", "payments", "prices"):
        (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / name / ("second" if more else "first")).write_text("")


def session(folder: Path, options: list[str]) -> SparkSession:
    disturbed = DISTURBED in options
    conf = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.sql.debug.maxToStringFields": "5" if disturbed else "50",
    }
    if WITH_KAFKA in options:
        conf["spark.jars"] = options[options.index(WITH_KAFKA) + 1]
    if WITH_DELTA in options:
        conf["spark.jars.packages"] = DELTA
        conf["spark.sql.extensions"] = "io.delta.sql.DeltaSparkSessionExtension"
        catalog = "org.apache.spark.sql.delta.catalog.DeltaCatalog"
        conf["spark.sql.catalog.spark_catalog"] = catalog
    builder = SparkSession.builder.master("local[3]" if disturbed else "local[2]")
    for key, value in conf.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def disturb(spark: SparkSession) -> None:
    """Move every counter of Spark's that a plan may show."""
    for number in range(9):
        rows = spark.range(number).withColumn("at", f.current_timestamp())
        counts = rows.withWatermark("at", "1 second").groupBy("id").count()
        counts = counts.select(f.transform(f.array("id"), lambda x: x + 1), f.rand())
        counts.observe(f"metrics {number}", f.count(f.lit(1)))
        spark.sql("WITH t AS (SELECT 1 AS a) SELECT a, (SELECT max(a) FROM t) FROM t")


def both(spark: SparkSession, folder: Path, name: str) -> dict[str, Any]:
    """The description of a kind, its hash, and the hash of its change."""
    plain, other = (described(spark, folder, name, changed=changed) for changed in (False, True))
    return {"description": plain, "hash": config_hash(plain), "changed": config_hash(other)}


def described(spark: SparkSession, folder: Path, name: str, *, changed: bool) -> dict[str, Any]:
    made = KINDS[name].build(Inputs(spark=spark, folder=folder, changed=changed))
    return describe(made.writeStream if isinstance(made, DataFrame) else made, {"model": 7})


if __name__ == "__main__":
    main(sys.argv[1:])
