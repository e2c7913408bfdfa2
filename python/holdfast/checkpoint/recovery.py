"""The walk from the newest checkpoint down to the first one that can be recovered."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from functools import cache, partial
from typing import TYPE_CHECKING

from holdfast.checkpoint.catalog import RELIST_MAX, list_ids
from holdfast.checkpoint.validation import inspect, validate
from holdfast.errors import CorruptionError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.checkpoint.validation import ValidationResult
    from holdfast.clock import Clock
    from holdfast.layout import Keys
    from holdfast.objectstore import ObjectStore


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveryReport:
    """Which checkpoint was chosen, and why each newer one was not.

    `chosen_id` is none only where there is no checkpoint at all. `examined` counts the
    checkpoints that were looked at, `skipped` has them newest first.
    """

    chosen_id: int | None
    skipped: list[tuple[int, str]]
    examined: int
    elapsed: timedelta


def recover(store: ObjectStore, keys: Keys, *, clock: Clock) -> RecoveryReport:
    """Read-only: nothing is repaired, and the pointer is not asked.

    Raises:
        CorruptionError: there are checkpoints, and none can be recovered.
        UnavailableError: the store does not answer.
    """
    start = clock.monotonic()
    chosen, skipped = None, list[tuple[int, str]]()
    for _ in range(RELIST_MAX):
        ids = list_ids(store, keys)
        chosen, skipped, gone = _walk(store, keys, ids[::-1])
        if chosen is not None or not gone:  # what was listed and is gone was pruned: list again
            break
    if chosen is None and skipped:
        raise _nothing_valid(skipped)
    elapsed = timedelta(seconds=clock.monotonic() - start)
    examined = len(skipped) + (chosen is not None)
    return RecoveryReport(chosen_id=chosen, skipped=skipped, examined=examined, elapsed=elapsed)


def _walk(
    store: ObjectStore, keys: Keys, ids: Sequence[int]
) -> tuple[int | None, list[tuple[int, str]], bool]:
    """The first valid one, what was skipped before it, and whether any of that was gone."""
    look = cache(partial(inspect, store, keys))
    skipped: list[tuple[int, str]] = []
    for number in ids:
        result = validate(number, look)
        if result.valid:
            return number, skipped, False
        skipped.append((number, reason(result)))
    return None, skipped, any(look(number).gone for number in ids)


def reason(result: ValidationResult) -> str:
    return "; ".join(map(str, result.issues))


def _nothing_valid(skipped: list[tuple[int, str]]) -> CorruptionError:
    newest, why = skipped[0]
    return CorruptionError(
        f"none of {len(skipped)} checkpoints can be recovered",
        hint="restore their objects from a backup or a bucket's old versions; "
        "to start afresh on purpose, use an empty prefix",
        newest=newest,
        reason=why,
    )
