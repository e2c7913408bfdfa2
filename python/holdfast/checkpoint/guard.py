"""Where a checkpoint store must not write: under a chain, and over the flat layout."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from holdfast.checkpoint.catalog import list_v1_ids, load_manifest, newest_id
from holdfast.errors import AlreadyExistsError, CorruptionError, MisuseError
from holdfast.layout import Keys, Kind
from holdfast.objectstore import scan

if TYPE_CHECKING:
    from holdfast.objectstore import ObjectStore

CHAIN_FIELD = "holdfast"


class WriteGuard:
    """Looks once, before the first write: neither a chain nor a flat layout comes later.

    A chain is claimed by one writer and fenced; a second way to write its numbers would break
    what it promises. The flat layout is read and pruned, and its numbers stay taken.
    """

    def __init__(self, store: ObjectStore, keys: Keys) -> None:
        self._store = store
        self._keys = keys
        self._flat: set[int] | None = None

    def check(self, *numbers: int) -> None:
        """Let a write to these numbers pass.

        Raises:
            MisuseError: a chain lives here.
            AlreadyExistsError: a checkpoint of the flat layout has that number.
        """
        if self._flat is None:
            refuse_chain(self._store, self._keys)
            self._flat = list_v1_ids(self._store, self._keys)
        for number in numbers:
            if number in self._flat:
                raise AlreadyExistsError(
                    "a checkpoint of the flat layout has this id, and that layout is read-only",
                    hint="use a greater id",
                    checkpoint_id=number,
                )


def refuse_chain(store: ObjectStore, keys: Keys) -> None:
    """Nothing, unless a chain lives below this root.

    Raises:
        MisuseError: one does.
    """
    if _has_record(store, keys) or _newest_is_a_chains(store, keys):
        raise MisuseError(
            "a chain lives under this prefix, and only its own writer may change it",
            hint="give the checkpoint store a prefix of its own, or use `holdfast prune`",
            prefix=keys.root,
        )


def _has_record(store: ObjectStore, keys: Keys) -> bool:
    """An intent, or a hold, which is the first thing that a clone writes."""
    listed = chain(scan(store, keys.intents), scan(store, keys.holds))
    parsed = (keys.parse(meta.key) for meta in listed)
    return any(found is not None and found.kind in (Kind.INTENT, Kind.HOLD) for found in parsed)


def _newest_is_a_chains(store: ObjectStore, keys: Keys) -> bool:
    number = newest_id(store, keys)
    if number is None:
        return False
    try:
        stored = load_manifest(store, keys, number)
    except CorruptionError:  # a chain has intents too, and those were not there
        return False
    return stored is not None and CHAIN_FIELD in stored.manifest.extra
