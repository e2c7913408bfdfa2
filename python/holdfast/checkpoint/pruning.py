"""Which checkpoints may go, and letting them go.

Kept are: the newest `keep_count`, the highest number, whatever a pointer names, the newest one
that is valid, and every parent that one of these needs.

The greatest pruned id is noted first, so that a writer that was asleep cannot save it again.

Failure: manifests are deleted before sidecars. Killed in between → sidecars without a manifest,
which `cleanup_orphans` removes; never a manifest without its sidecar.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache, partial
from typing import TYPE_CHECKING

from holdfast.checkpoint.catalog import list_ids, load_manifest
from holdfast.checkpoint.pointer import (
    advance_pointer,
    latest_pointer,
    pruned_pointer,
    read_pointer,
    read_v1_latest,
)
from holdfast.checkpoint.validation import inspect, validate
from holdfast.errors import CorruptionError, DeleteError
from holdfast.objectstore.parallel import gather

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from holdfast.layout import Keys
    from holdfast.objectstore import ObjectStore

PARALLEL = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class PruneReport:
    """What went, what stayed although it was old, and what could not be deleted."""

    removed: tuple[int, ...] = ()
    protected: Mapping[int, str] = field(default_factory=dict)
    failed: Mapping[str, str] = field(default_factory=dict)


def prune(
    store: ObjectStore,
    keys: Keys,
    keep_count: int,
    parents: dict[int, int | None],
    *,
    dry_run: bool = False,
) -> PruneReport:
    """Remove what is neither new nor protected; `parents` remembers what manifests named.

    With `dry_run` the report says what would be removed, and nothing is written.

    Raises:
        CorruptionError: no checkpoint is valid, so none is removed.
    """
    ids = list_ids(store, keys)
    if len(ids) <= keep_count:
        return PruneReport()
    protected = _protected(store, keys, ids, keep_count)
    kept = {*ids[len(ids) - keep_count :], *protected}
    needed = _ancestors(store, keys, kept, parents) - kept
    protected |= {number: "a parent of a kept one" for number in ids if number in needed}
    victims = [number for number in ids if number not in kept and number not in needed]
    if dry_run:
        return PruneReport(removed=tuple(victims), protected=protected)
    if victims:
        advance_pointer(store, pruned_pointer(keys), victims[-1], lambda: None)
    removed, failed = _delete(store, keys, victims)
    for number in removed:
        parents.pop(number, None)
    return PruneReport(removed=tuple(removed), protected=protected, failed=failed)


def _protected(
    store: ObjectStore, keys: Keys, ids: Sequence[int], keep_count: int
) -> dict[int, str]:
    look = cache(partial(inspect, store, keys))
    valid = next((number for number in reversed(ids) if validate(number, look).valid), None)
    if valid is None:
        raise CorruptionError(
            "no checkpoint is valid, so none is removed",
            hint="see what validate_checkpoint says of the newest",
            newest=ids[-1],
        )
    named, _ = read_pointer(store, latest_pointer(keys))
    reasons = (
        (valid, "the newest valid one"),
        (named, "named by latest.json"),
        (read_v1_latest(store, keys), "named by latest.txt"),
        (ids[-1], "the latest"),
    )
    old = ids[: len(ids) - keep_count]
    return {number: why for number, why in reasons if number is not None and number in old}


def _ancestors(
    store: ObjectStore, keys: Keys, kept: Iterable[int], parents: dict[int, int | None]
) -> set[int]:
    """Every number that the kept ones need, directly or not."""

    def learn(number: int) -> None:
        parents[number] = _parent(store, keys, number)

    found: set[int] = set()
    level = set(kept)
    while level:
        gather(learn, [number for number in level if number not in parents], parallel=PARALLEL)
        level = {parent for number in level if (parent := parents[number]) is not None} - found
        found |= level
    return found


def _parent(store: ObjectStore, keys: Keys, number: int) -> int | None:
    try:
        stored = load_manifest(store, keys, number)
    except CorruptionError:  # it cannot be recovered, so it needs nothing
        return None
    return None if stored is None else stored.manifest.parent_id


def _delete(
    store: ObjectStore, keys: Keys, victims: Sequence[int]
) -> tuple[list[int], dict[str, str]]:
    """The numbers that are really gone, and the keys that are still there with the reason."""
    newest_first = victims[::-1]
    manifests = {
        number: (keys.manifest(number), keys.v1_manifest(number)) for number in newest_first
    }
    failed = _try_delete(store, [key for both in manifests.values() for key in both])
    removed = [number for number in victims if not failed.keys() & set(manifests[number])]
    states = [key for number in removed for key in (keys.state(number), keys.v1_state(number))]
    return removed, {**failed, **_try_delete(store, states)}


def _try_delete(store: ObjectStore, keys: Sequence[str]) -> dict[str, str]:
    try:
        store.delete(keys)
    except DeleteError as error:
        return error.failed
    return {}
