"""The names that Spark gives to files below a checkpoint's root, as far as Holdfast must know."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

RESERVED = frozenset({"offsets", "commits", "sources", "state", "metadata"})
_STATE = re.compile(
    r"(?P<store>state/\d+/\d+(?:/[^/]+)?)/(?P<version>\d+)(?:_[^.]+)?\."
    r"(?P<kind>snapshot|zip|delta|changelog)(?:\.crc)?"
)
_LOG = re.compile(r"(?P<log>offsets|commits|sources/[^/]+)/(?P<batch>\d+)(?:\.compact)?")
_LOG_TAIL = 2


def is_driver_side(path: str) -> bool:
    """Whether a file is part of a batch's plan: all that is not state."""
    return not path.startswith("state/")


def offsets_path(batch: int) -> str:
    return f"offsets/{batch}"


def needed_at_start(paths: Iterable[str]) -> set[str]:
    """The files that a start reads: the ends of the logs, and each store's newest state.

    A guess, to fetch ahead; what it misses is fetched when it is opened.
    """
    logs: dict[str, dict[str, int]] = defaultdict(dict)
    stores: dict[str, list[tuple[int, bool, str]]] = defaultdict(list)
    for path in paths:
        if found := _LOG.fullmatch(path):
            logs[found["log"]][path] = int(found["batch"])
        elif found := _STATE.fullmatch(path):
            is_snapshot = found["kind"] in ("snapshot", "zip")
            stores[found["store"]].append((int(found["version"]), is_snapshot, path))
    needed = {"metadata"}
    for log, batches in logs.items():
        needed.update(_log_tail(log, batches))
    for files in stores.values():
        needed.update(_newest_state(files))
    return needed


def _log_tail(log: str, batches: dict[str, int]) -> set[str]:
    """The last two of the offsets and commits; of a source's log all since it was compacted."""
    if log.startswith("sources/"):
        compacted = [batch for path, batch in batches.items() if path.endswith(".compact")]
        first = max(compacted, default=0)
    else:
        first = max(batches.values()) - _LOG_TAIL + 1
    return {path for path, batch in batches.items() if batch >= first}


def _newest_state(files: Collection[tuple[int, bool, str]]) -> set[str]:
    """The newest snapshot and every delta after it."""
    newest = max((version for version, is_snapshot, _ in files if is_snapshot), default=0)
    return {
        path
        for version, is_snapshot, path in files
        if (version == newest if is_snapshot else version > newest)
    }
