"""The names that Spark gives to files below a checkpoint's root, as far as Holdfast must know."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

from holdfast.sparkfiles.state import StateFile, parse_state

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

METADATA = "metadata"
RESERVED = frozenset({"offsets", "commits", "sources", "state", METADATA})
_LOG = re.compile(r"(?P<log>offsets|commits|sources/[^/]+)/(?P<batch>\d+)(?:\.compact)?")
_LOG_TAIL = 2
_MARKERS = frozenset({"_SUCCESS"})


def is_driver_side(path: str) -> bool:
    """Whether a file is part of a batch's plan: all that is not state."""
    return not path.startswith("state/")


def offsets_path(batch: int) -> str:
    return f"offsets/{batch}"


def commits_path(batch: int) -> str:
    return f"commits/{batch}"


def is_left_behind(path: str) -> bool:
    """Whether Spark does not need a file: temporary ones, Hadoop's checksums, others' markers.

    Hadoop's twin of `x` is `.x.crc`; Spark's own, `x.crc`, is needed.
    """
    segments = path.split("/")
    hidden = any(segment.startswith(".") for segment in segments)
    return hidden or segments[-1] in _MARKERS or segments[-1].endswith(".tmp")


def log_batches(paths: Iterable[str], log: str) -> list[int]:
    """The batches that the log `offsets` or `commits` holds, ascending."""
    found = (_LOG.fullmatch(path) for path in paths)
    return sorted(int(each["batch"]) for each in found if each and each["log"] == log)


def needed_at_start(paths: Iterable[str]) -> set[str]:
    """The files that a start reads: the ends of the logs, and each store's newest state.

    A guess, to fetch ahead; what it misses is fetched when it is opened.
    """
    logs: dict[str, dict[str, int]] = defaultdict(dict)
    stores: dict[str, list[tuple[StateFile, str]]] = defaultdict(list)
    for path in paths:
        if found := _LOG.fullmatch(path):
            logs[found["log"]][path] = int(found["batch"])
        elif state := parse_state(path):
            stores[state.store].append((state, path))
    needed = {METADATA}
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


def _newest_state(files: Collection[tuple[StateFile, str]]) -> set[str]:
    """The newest snapshot and every delta after it."""
    newest = max((state.version for state, _ in files if state.is_snapshot), default=0)
    return {
        path
        for state, path in files
        if (state.version == newest if state.is_snapshot else state.version > newest)
    }
