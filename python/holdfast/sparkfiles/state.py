"""Files of Spark's state stores: which version of which store, and whether a version is whole.

Batch N leaves every store at version N + 1. A store is loaded from its newest snapshot (HDFS-backed
`.snapshot`, RocksDB `.zip`) and every change after it (`.delta`, `.changelog`).
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

_STATE = re.compile(
    r"(?P<store>state/\d+/(?P<partition>\d+)(?:/[^/]+)?)/(?P<version>\d+)(?:_[^.]+)?\."
    r"(?P<kind>snapshot|zip|delta|changelog)(?P<checksum>\.crc)?"
)
_SNAPSHOTS = ("snapshot", "zip")


class StateFile(NamedTuple):
    """One file of one store; a checksum is the twin that Spark itself keeps of another file."""

    store: str
    partition: int
    version: int
    is_snapshot: bool
    is_checksum: bool


def parse_state(path: str) -> StateFile | None:
    """What this path is, if it is a version of a store."""
    found = _STATE.fullmatch(path)
    if found is None:
        return None
    return StateFile(
        store=found["store"],
        partition=int(found["partition"]),
        version=int(found["version"]),
        is_snapshot=found["kind"] in _SNAPSHOTS,
        is_checksum=found["checksum"] is not None,
    )


def version_after(batch: int) -> int:
    """The version of every store once this batch is committed."""
    return batch + 1


def is_beyond(path: str, batch: int) -> bool:
    """Whether a file is of a version that this batch does not need: a later batch wrote it."""
    found = parse_state(path)
    return found is not None and found.version > version_after(batch)


def missing_versions(
    paths: Iterable[str], batch: int, *, partitions: int | None = None
) -> dict[str, int]:
    """By store, the first version that is needed to go on after this batch and is not there.

    Where it is known how many partitions the batch had, others are left over from a query that
    had more, and do not count.
    """
    snapshots: dict[str, set[int]] = defaultdict(set)
    changes: dict[str, set[int]] = defaultdict(set)
    for path in paths:
        found = parse_state(path)
        if found is None or found.is_checksum:
            continue
        if partitions is None or found.partition < partitions:
            (snapshots if found.is_snapshot else changes)[found.store].add(found.version)
    target = version_after(batch)
    missing: dict[str, int] = {}
    for store in sorted({*snapshots, *changes}):
        newest = max((each for each in snapshots[store] if each <= target), default=0)
        needed = (each for each in range(newest + 1, target + 1) if each not in changes[store])
        first = next(needed, None)
        if first is not None:
            missing[store] = first
    return missing
