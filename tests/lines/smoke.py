"""One query on whatever Spark this Python has: a restart, and exact counts.

Run by `tests.lines` in an environment of its own, which has nothing of the tests but this file.
"""

from __future__ import annotations

import json
import sqlite3
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pyspark
from pyspark.sql import SparkSession

import holdfast


def main(folder: Path) -> None:
    spark = open_session(folder)
    database = str(folder / "sink.db")
    with sqlite3.connect(database) as connection:
        connection.execute("CREATE TABLE counts (sku TEXT PRIMARY KEY, n INTEGER)")
    for first in (0, 3):
        write_orders(folder / "orders", first)
        query = run(spark, folder, database)
        assert holdfast.status(query).batch == first + 2, holdfast.status(query)
    with sqlite3.connect(database) as connection:
        counts = dict(connection.execute("SELECT sku, n FROM counts"))
    assert counts == expected(folder / "orders"), (counts, expected(folder / "orders"))
    print(f"Spark {pyspark.__version__}: exact over a restart")


def open_session(folder: Path) -> SparkSession:
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.sql.shuffle.partitions", "3")
    builder = builder.config("spark.driver.host", "127.0.0.1")
    spark = holdfast.session(builder, store=(folder / "store").as_uri())
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def run(spark: SparkSession, folder: Path, database: str) -> Any:
    def write(df: Any, batch_id: int, txn: Any) -> None:
        rows = [(row["sku"], row["count"]) for row in df.collect()]
        txn.executemany("INSERT OR REPLACE INTO counts VALUES (?, ?)", rows)

    ledger = holdfast.DatabaseLedger(lambda: sqlite3.connect(database))
    stream = spark.readStream.schema("sku string").option("maxFilesPerTrigger", 1)
    counts = stream.json(str(folder / "orders")).groupBy("sku").count()
    query = (
        counts.writeStream.outputMode("update")
        .foreachBatch(holdfast.exactly_once(write, ledger))
        .option("checkpointLocation", "holdfast:///orders")
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    return query


def write_orders(folder: Path, first: int) -> None:
    folder.mkdir(exist_ok=True)
    for number in range(first, first + 3):
        lines = [json.dumps({"sku": f"sku-{(number * 7 + place) % 5}"}) for place in range(20)]
        (folder / f".{number}").write_text("\n".join(lines))
        (folder / f".{number}").rename(folder / f"{number}.json")


def expected(folder: Path) -> dict[str, int]:
    lines = [line for path in folder.glob("*.json") for line in path.read_text().splitlines()]
    return dict(Counter(json.loads(line)["sku"] for line in lines))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
