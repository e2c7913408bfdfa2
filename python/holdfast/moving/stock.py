"""What a checkpoint that Spark wrote holds: how far it got, and whether it can be gone on from.

A survey asks for what Spark itself asks for at a start, and for what it does not: the state of
the last committed batch must be whole in every store. With it, every file is there or the import
is refused; without it, the query would fail at its next start, or worse.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.errors import ConfigError, CorruptionError, NotFoundError
from holdfast.moving.origin import changed
from holdfast.sparkfiles.identity import parse_query_id
from holdfast.sparkfiles.offsets import BatchOffsets, parse_offsets
from holdfast.sparkfiles.paths import (
    METADATA,
    commits_path,
    is_left_behind,
    log_batches,
    offsets_path,
)
from holdfast.sparkfiles.state import is_beyond, missing_versions

if TYPE_CHECKING:
    from collections.abc import Collection

    from holdfast.moving.origin import Origin
    from holdfast.objectstore import ObjectMeta

_ASYNC = (
    "with asynchronous progress tracking, run two batches with "
    "asyncProgressTrackingCheckpointIntervalMs=0 and stop, then import"
)
_DIRECTORY = "name the directory that checkpointLocation names: it holds metadata, offsets/, …"
_CANDIDATES_MAX = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Stock:
    """The files to take, without the plan of a batch that was begun and not committed.

    `batch` is the last committed one, -1 for none; `beyond` counts the state files that the
    unfinished batch had written, which it writes again, and `left` what Spark does not need.
    """

    batch: int
    query_id: str
    offsets: BatchOffsets
    files: tuple[ObjectMeta, ...]
    plan: ObjectMeta | None
    beyond: int
    left: int

    @property
    def size_bytes(self) -> int:
        return sum(file.size for file in self.files)


def survey(origin: Origin) -> Stock:
    """Look at every name and at the ends of the logs; only reads.

    Raises:
        NotFoundError: nothing is there.
        ConfigError: it is not a checkpoint.
        CorruptionError: it is one, and cannot be gone on from; the message says why.
    """
    listed = {file.key: file for file in origin.list()}
    if not listed:
        raise NotFoundError("nothing is here", hint=_DIRECTORY, checkpoint=origin.shown)
    paths = [path for path in listed if not is_left_behind(path)]
    _require_checkpoint(paths, origin.shown)
    batch, planned = _progress(paths, origin.shown)
    query_id = parse_query_id(origin.read(listed[METADATA]))
    if not query_id:
        raise _incomplete("its file metadata holds no query id", origin.shown)
    bodies = {path: origin.read(listed[path]) for path in _ends(batch, planned)}
    for path, body in bodies.items():
        if not body.startswith(b"v"):
            raise _incomplete(f"{path} is cut short", origin.shown)
    offsets = parse_offsets(bodies.get(offsets_path(batch), b""))
    _require_state(paths, batch, offsets, origin.shown)
    plan = None if planned is None else offsets_path(planned)
    beyond = {path for path in paths if is_beyond(path, batch)}
    return Stock(
        batch=batch,
        query_id=query_id,
        offsets=offsets,
        files=tuple(listed[path] for path in paths if path != plan and path not in beyond),
        plan=None if plan is None else listed[plan],
        beyond=len(beyond),
        left=len(listed) - len(paths),
    )


def require_unchanged(origin: Origin, stock: Stock) -> None:
    """Nothing, unless the query has gone on since the survey.

    Raises:
        MisuseError: it has.
    """
    paths = [file.key for file in origin.list()]
    newest = max(log_batches(paths, "offsets"), default=-1)
    committed = max(log_batches(paths, "commits"), default=-1)
    if (committed, newest) != (stock.batch, stock.batch + (stock.plan is not None)):
        raise changed(origin.shown, offsets_path(newest))


def _progress(paths: Collection[str], shown: str) -> tuple[int, int | None]:
    offsets, commits = log_batches(paths, "offsets"), log_batches(paths, "commits")
    batch, last = max(commits, default=-1), max(offsets, default=-1)
    if last < batch:
        reason = f"batch {batch} is committed, and there is no {offsets_path(batch)}"
        raise _incomplete(reason, shown, hint=_ASYNC)
    if last > batch + 1:
        reason = f"the offsets go on to batch {last}, and the last committed one is {batch}"
        raise _incomplete(reason, shown, hint=_ASYNC)
    if last > 0 and last - 1 not in offsets:
        reason = f"Spark starts from the last two offsets, and there is no {offsets_path(last - 1)}"
        raise _incomplete(reason, shown, hint=_ASYNC)
    return batch, last if last > batch else None


def _ends(batch: int, planned: int | None) -> list[str]:
    """The entries of the logs that a start reads first."""
    ends = [] if batch < 0 else [offsets_path(batch), commits_path(batch)]
    return ends if planned is None else [*ends, offsets_path(planned)]


def _require_checkpoint(paths: Collection[str], shown: str) -> None:
    if METADATA in paths:
        return
    if any(path.startswith("manifests/manifest-") for path in paths):
        raise ConfigError(
            "this is a query of Holdfast already",
            hint="`holdfast clone` begins another query with its state",
            checkpoint=shown,
        )
    inside = sorted(
        path.removesuffix(f"/{METADATA}") for path in paths if path.endswith(f"/{METADATA}")
    )
    roots = [root for root in inside if any(path.startswith(f"{root}/offsets/") for path in paths)]
    more = ", ".join(roots[:_CANDIDATES_MAX])
    raise ConfigError(
        "this is not a checkpoint that Spark wrote: there is no file metadata",
        hint=f"there are checkpoints below it: {more}" if roots else _DIRECTORY,
        checkpoint=shown,
    )


def _require_state(paths: Collection[str], batch: int, offsets: BatchOffsets, shown: str) -> None:
    missing = missing_versions(paths, batch, partitions=offsets.partitions)
    if missing:
        store, version = next(iter(missing.items()))
        raise _incomplete(
            f"the state of batch {batch} is not whole: {store} lacks version {version}",
            shown,
            hint="Spark could not start from it either; import a copy from before it was damaged",
            stores=len(missing),
        )


def _incomplete(reason: str, shown: str, *, hint: str = "", **details: object) -> CorruptionError:
    return CorruptionError(
        f"this checkpoint cannot be gone on from: {reason}",
        hint=hint or "import a copy from before it was damaged",
        checkpoint=shown,
        **details,
    )
