"""Large state: 1 GiB of files between executors and the store, ours beside plain requests.

The files are of the size of RocksDB's, and are saved and loaded by the calls that Spark's file
manager for RocksDB makes; RocksDB's own work, which is the same on any store, is left out.
"""

from __future__ import annotations

import os
import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pyspark.sql.types import LongType

from holdfast.objectstore import innermost, open_store
from tests.bench.worker import spark

if TYPE_CHECKING:
    from collections.abc import Sequence

PARTITIONS = 8
FILES = 16
FILE_BYTES = 64 << 20
ROUNDS = 5
_QUERY = "large-state"
_ROOT = f"holdfast:///{_QUERY}"
_OURS = ("fs.holdfast.", "fs.AbstractFileSystem.holdfast.")
_SECONDS = 3600


def run(store: str, folder: str, *, quick: bool) -> dict[str, float]:
    """In a process that has a Holdfast session on a cluster; seconds for all bytes, medians.

    The first round is not counted: it warms two executors, and the server.
    """
    size = FILE_BYTES >> 4 if quick else FILE_BYTES
    up = _local(Path(folder) / "up", size)
    down = [Path(folder) / "down" / path.name for path in up]
    down[0].parent.mkdir(parents=True, exist_ok=True)
    spark().udf.registerJavaFunction("moving", "bench.Moving", LongType())
    jvm: Any = spark().sparkContext._jvm
    commit = jvm.bench.LargeCommit
    took: dict[str, list[float]] = {"put": [], "save": [], "get": [], "load": []}
    for number in range(2 if quick else 1 + ROUNDS):
        root, plain = f"{_ROOT}-{number}", f"plain/{number}"
        _start(commit, root)
        commit.plan(_hadoop(), root)
        took["put"].append(_moved("put", up, _signed(store, "put_object", plain)))
        took["save"].append(_moved("save", up, _paths(root)))
        commit.commit(_hadoop(), root)
        _start(commit, root)  # another claim: nothing of it is on this machine
        took["get"].append(_moved("get", down, _signed(store, "get_object", plain)))
        took["load"].append(_moved("load", down, _paths(root)))
    return {
        "bytes": size * FILES,
        **{f"{what}_s": statistics.median(each[1:]) for what, each in took.items()},
    }


def conf_pairs() -> str:
    """What tasks of started queries have in their Hadoop configuration."""
    ours = [each for each in _hadoop().iterator() if each.getKey().startswith(_OURS)]
    pairs = (f"{each.getKey()}={each.getValue()}" for each in ours)
    return "\0".join(pair.replace("\n", "\1") for pair in pairs)


def _hadoop() -> Any:
    return spark().sparkContext._jsc.hadoopConfiguration()


def _start(commit: Any, root: str) -> None:
    commit.start(_hadoop(), root)


def _local(folder: Path, size: int) -> list[Path]:
    """The files, all different."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{number:03}.sst" for number in range(FILES)]
    for path in paths:
        path.write_bytes(os.urandom(size))
    return paths


def _paths(root: str) -> list[str]:
    return [f"{root}/state/0/{number % PARTITIONS}/{number:03}.sst" for number in range(FILES)]


def _signed(store: str, action: str, prefix: str) -> list[str]:
    """Plain requests to the same bucket, signed without a hash."""
    inner: Any = innermost(open_store(store))
    bucket = urlsplit(store).netloc
    return [
        inner._client.generate_presigned_url(
            action, Params={"Bucket": bucket, "Key": f"{prefix}/{number:03}"}, ExpiresIn=_SECONDS
        )
        for number in range(FILES)
    ]


def _moved(what: str, local: Sequence[Path], other: Sequence[str]) -> float:
    """Seconds until all files are moved, by as many tasks as there are partitions."""
    pairs = [f"{path}\t{name}" for path, name in zip(local, other, strict=True)]
    text = "\n".join([conf_pairs(), *pairs])
    view = f"moving_{time.monotonic_ns()}"
    rows = spark().createDataFrame([(text,)], "text string")
    rows.createOrReplaceTempView(view)
    os.sync()  # what an earlier move has written is not written during this one
    started = time.perf_counter()
    moved = spark().sql(
        f"SELECT /*+ BROADCAST({view}) */ sum(moving(id, '{what}', text)) AS bytes "
        f"FROM range(0, {FILES}, 1, {PARTITIONS}) CROSS JOIN {view}"
    )
    total = moved.collect()[0]["bytes"]
    took = time.perf_counter() - started
    if total != sum(path.stat().st_size for path in local):
        raise RuntimeError(f"{what}: {total} bytes were moved")
    return took
