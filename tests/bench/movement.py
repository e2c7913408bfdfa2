"""Large state: 1 GiB of files between executors and the store, ours beside others.

The files are of the size that RocksDB's compaction cuts, and are saved and loaded by the calls
that Spark's file manager for RocksDB makes; RocksDB's own work, which is the same on any store, is
left out. Beside them, from the same tasks: plain PUTs that the store checks by their SHA-256 as it
checks ours, PUTs that nothing checks, plain GETs, and the same calls on S3A.
"""

from __future__ import annotations

import base64
import hashlib
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
    from collections.abc import Callable, Mapping, Sequence

PARTITIONS = 8
FILES = 16
FILE_BYTES = (64 << 20) + 355_000
ROUNDS = 8
_QUERY = "large-state"
_ROOT = f"holdfast:///{_QUERY}"
_SHARED = ("fs.holdfast.", "fs.AbstractFileSystem.holdfast.", "fs.s3a.")
_SECONDS = 3600


def run(store: str, s3a: str, folder: str, *, quick: bool) -> dict[str, float]:
    """In a process that has a Holdfast session on a cluster, and S3A; medians.

    The first round is not counted: it warms two executors, and the server. A ratio is that of two
    rates in one round, and in each round another one comes first: the machine's pace changes.
    """
    size = FILE_BYTES >> 4 if quick else FILE_BYTES
    up = _local(Path(folder) / "up", size)
    down = [Path(folder) / "down" / path.name for path in up]
    down[0].parent.mkdir(parents=True, exist_ok=True)
    spark().udf.registerJavaFunction("moving", "bench.Moving", LongType())
    plain = _Plain(store, up)
    rounds = [_round(number, plain, s3a, up, down) for number in range(2 if quick else 1 + ROUNDS)][
        1:
    ]
    return {
        "bytes": size * FILES,
        **{f"{what}_s": statistics.median(each[what] for each in rounds) for what in rounds[0]},
        "save_of_put": _ratio(rounds, "put", "save"),
        "save_of_bare": _ratio(rounds, "bare", "save"),
        "save_of_s3a": _ratio(rounds, "s3a_save", "save"),
        "load_of_get": _ratio(rounds, "get", "load"),
        "load_of_s3a": _ratio(rounds, "s3a_load", "load"),
    }


def conf_pairs() -> str:
    """What tasks of started queries have in their Hadoop configuration."""
    shared = [each for each in _hadoop().iterator() if each.getKey().startswith(_SHARED)]
    pairs = (f"{each.getKey()}={each.getValue()}" for each in shared)
    return "\0".join(pair.replace("\n", "\1") for pair in pairs)


def _round(
    number: int, plain: _Plain, s3a: str, up: Sequence[Path], down: Sequence[Path]
) -> dict[str, float]:
    """Everything once; seconds by name."""
    jvm: Any = spark().sparkContext._jvm
    commit, root = jvm.bench.LargeCommit, f"{_ROOT}-{number}"
    theirs = f"{s3a}/{number}"
    commit.start(_hadoop(), root)
    commit.plan(_hadoop(), root)
    saving = {
        "bare": lambda: _moved("put", up, plain.puts(f"bare/{number}")),
        "put": lambda: _moved("checked", up, plain.puts(f"plain/{number}", checked=True)),
        "save": lambda: _moved("save", up, _paths(root)),
        "s3a_save": lambda: _moved("save", up, _paths(theirs)),
    }
    took = _in_turn(number, saving)
    commit.commit(_hadoop(), root)
    commit.start(_hadoop(), root)  # another claim: nothing of it is on this machine
    loading = {
        "get": lambda: _moved("get", down, plain.gets(f"plain/{number}")),
        "load": lambda: _moved("load", down, _paths(root)),
        "s3a_load": lambda: _moved("load", down, _paths(theirs)),
    }
    return took | _in_turn(number, loading)


def _in_turn(number: int, moves: Mapping[str, Callable[[], float]]) -> dict[str, float]:
    names = list(moves)
    first = number % len(names)
    return {name: moves[name]() for name in names[first:] + names[:first]}


def _ratio(rounds: Sequence[Mapping[str, float]], theirs: str, ours: str) -> float:
    """Our rate by theirs."""
    return statistics.median(each[theirs] / each[ours] for each in rounds)


class _Plain:
    """Signed requests for objects of their own in the same bucket."""

    def __init__(self, store: str, files: Sequence[Path]) -> None:
        inner: Any = innermost(open_store(store))
        self._client, self._bucket = inner._client, urlsplit(store).netloc
        self._sha256s = [
            base64.b64encode(hashlib.sha256(path.read_bytes()).digest()).decode() for path in files
        ]

    def puts(self, prefix: str, *, checked: bool = False) -> list[str]:
        """A URL for each file; where it is checked, for its bytes only."""
        checks = [{"ChecksumSHA256": sha256} if checked else {} for sha256 in self._sha256s]
        return [self._signed("put_object", prefix, *each) for each in enumerate(checks)]

    def gets(self, prefix: str) -> list[str]:
        return [self._signed("get_object", prefix, number, {}) for number in range(FILES)]

    def _signed(self, action: str, prefix: str, number: int, check: Mapping[str, str]) -> str:
        params = {"Bucket": self._bucket, "Key": f"{prefix}/{number:03}", **check}
        url: str = self._client.generate_presigned_url(action, Params=params, ExpiresIn=_SECONDS)
        return url


def _hadoop() -> Any:
    return spark().sparkContext._jsc.hadoopConfiguration()


def _local(folder: Path, size: int) -> list[Path]:
    """The files, all different."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{number:03}.sst" for number in range(FILES)]
    for path in paths:
        path.write_bytes(os.urandom(size))
    return paths


def _paths(root: str) -> list[str]:
    return [f"{root}/state/0/{number % PARTITIONS}/{number:03}.sst" for number in range(FILES)]


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
