"""The driver's load: one batch of 2,000 partitions, whose small state files all go through it."""

from __future__ import annotations

import time
from typing import Any

from pyspark.sql.types import LongType

from tests.bench.large import peak_growth
from tests.bench.movement import conf_pairs
from tests.bench.worker import spark
from tests.spark.tasks import parse_messages

PARTITIONS = 2_000
FILE_BYTES = 32 * 1024
_TASKS = 8
_ROOT = "holdfast:///driver-load"


def run(*, quick: bool) -> dict[str, float]:
    """In a process that has a Holdfast session on a cluster; times in seconds, sizes in bytes."""
    files = PARTITIONS // 10 if quick else PARTITIONS
    jvm: Any = spark().sparkContext._jvm
    conf, commit = spark().sparkContext._jsc.hadoopConfiguration(), jvm.bench.LargeCommit
    spark().udf.registerJavaFunction("state_file", "bench.StateFile", LongType())
    commit.start(conf, _ROOT)
    commit.plan(conf, _ROOT)
    _write(_TASKS, first=files)  # executors and their classes are warm
    before, heap = parse_messages(jvm.holdfast.Bridge.messages()), commit.live()
    started = time.perf_counter()
    spent_ns = _write(files, first=0)
    wrote = time.perf_counter() - started
    after, held = parse_messages(jvm.holdfast.Bridge.messages()), commit.live()
    committed: list[int] = []
    python = peak_growth(lambda: committed.append(commit.commit(conf, _ROOT)))
    return {
        "files": files,
        "file_bytes": FILE_BYTES,
        "write_s": wrote,
        "message_ms": spent_ns / files / 1e6,
        "messages": sum(after.values()) - sum(before.values()),
        "commit_s": committed[0] / 1e9,
        "heap_bytes": max(0, held - heap),
        "python_bytes": python,
    }


def _write(files: int, *, first: int) -> int:
    """On the executors, back to back: nothing but these messages is between two of them."""
    view = f"conf_{time.monotonic_ns()}"
    spark().createDataFrame([(conf_pairs(),)], "pairs string").createOrReplaceTempView(view)
    found = spark().sql(
        f"SELECT sum(state_file(id, {FILE_BYTES}, '{_ROOT}', pairs)) AS ns "
        f"FROM range({first}, {first + files}, 1, {_TASKS}) CROSS JOIN {view}"
    )
    return int(found.collect()[0]["ns"])
