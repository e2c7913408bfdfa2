"""What is measured once, each in a process of its own whose memory nothing else has stretched."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.bench import large
from tests.bench.contenders import (
    CLUSTER_MASTER,
    LOCAL_MASTER,
    RENAME,
    S3,
    bucket_of,
    session_conf,
)
from tests.bench.measure import Figure
from tests.spark.processes import SPARK_HOME, Child

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tests.bench.contenders import Places

LARGE_COMMIT, LARGE_STATE, DRIVER_LOAD = "large-commit", "large-state", "driver-load"
NAMES = (LARGE_COMMIT, LARGE_STATE, DRIVER_LOAD)
_SECONDS_MAX = 1800


def run(name: str, places: Places, *, quick: bool) -> dict[str, float]:
    """One of them, by name; times in seconds, sizes in bytes."""
    store = places.store_url()
    if name == LARGE_COMMIT:
        return _asked(name, places, LOCAL_MASTER, "large:run", store=store)
    if name == LARGE_STATE:
        folder = str(places.folder / name)
        s3a = f"s3a://{bucket_of(RENAME, is_far=False)}/{name}"
        args = {"store": store, "s3a": s3a, "folder": folder, "quick": quick}
        return _asked(name, places, CLUSTER_MASTER, "movement:run", **args)
    return _asked(name, places, CLUSTER_MASTER, "crowd:run", quick=quick)


def shown(found: Mapping[str, float]) -> str:
    """All of it, in a line."""
    return ", ".join(f"{name} {value:,.3g}" for name, value in found.items())


def required(found: Mapping[str, Mapping[str, float]]) -> Iterator[Figure]:
    """What is required of those that were measured."""
    if LARGE_COMMIT in found:
        yield from _large_commit(found[LARGE_COMMIT])
    if LARGE_STATE in found:
        yield from _large_state(found[LARGE_STATE])
    if DRIVER_LOAD in found:
        yield from _driver_load(found[DRIVER_LOAD])


def _asked(name: str, places: Places, master: str, task: str, **args: object) -> dict[str, float]:
    log = places.folder / f"{name}.log"
    with Child(log, env={"SPARK_HOME": str(SPARK_HOME)}) as child:
        theirs = session_conf(RENAME, places, master) if name == LARGE_STATE else {}
        conf = {**theirs, **session_conf(S3, places, master)}
        child.send("tests.bench.worker:open_session", conf=conf, master=master)
        child.jvm_pid = int(child.answer(_SECONDS_MAX))
        child.send(f"tests.bench.{task}", **args)
        found: dict[str, float] = child.answer(_SECONDS_MAX)
        return found


def _large_commit(found: Mapping[str, float]) -> Iterator[Figure]:
    yield Figure(
        name="a commit of 64 MB in 200 files, beyond the PUT itself",
        measured=found["commit_s"] - found["put_s"],
        required=2,
        relation="at most",
        unit="s",
    )
    for kind, key in (
        ("the driver's JVM heap", "heap_bytes"),
        ("Python's own memory", "python_bytes"),
    ):
        yield Figure(
            name=f"the same, growth of {kind}",
            measured=found[key] / large.TOTAL_BYTES,
            required=2,
            relation="at most",
            unit="x those bytes",
        )


def _large_state(found: Mapping[str, float]) -> Iterator[Figure]:
    for what, others, key, required in (
        ("saved", "plain PUTs that the store checks as it checks ours", "save_of_put", 0.8),
        ("saved", "S3A", "save_of_s3a", 1),
        ("loaded", "plain GETs", "load_of_get", 0.8),
        ("loaded", "S3A", "load_of_s3a", 1),
    ):
        yield Figure(
            name=f"1 GiB of state is {what} by two executors, against {others}",
            measured=found[key],
            required=required,
            relation="at least",
            unit="x their rate",
        )


def _driver_load(found: Mapping[str, float]) -> Iterator[Figure]:
    yield Figure(
        name="a batch of 2,000 partitions, 32 KiB each: messages for a file",
        measured=found["messages"] / found["files"],
        required=1.01,
        relation="at most",
        unit="messages",
    )
