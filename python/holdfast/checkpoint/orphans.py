"""Sidecars that no manifest needs: what a killed save or a killed prune left behind.

A sidecar is written before its manifest, so one without a manifest may belong to a save that is
under way. Only those older than the grace period go; it must be longer than any save can take,
and than the clocks of this machine and of the store can differ.

Batches are never touched: no manifest names them, so nothing tells which are still needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.checkpoint.catalog import list_ids
from holdfast.layout import Keys, Kind
from holdfast.objectstore import ObjectMeta, ObjectStore, scan

if TYPE_CHECKING:
    from collections.abc import Iterator

_SIDECARS = (Kind.STATE, Kind.V1_STATE)


def orphaned(store: ObjectStore, keys: Keys, *, before_ms: int) -> list[str]:
    """The keys of all sidecars without a manifest that were last written before this time."""
    # Sidecars first: the manifest of a save that ends in between is in the second listing.
    sidecars = list(_sidecars(store, keys))
    known = set(list_ids(store, keys))
    return [
        meta.key
        for number, meta in sidecars
        if number not in known and 0 < meta.modified_ms < before_ms
    ]


def _sidecars(store: ObjectStore, keys: Keys) -> Iterator[tuple[int, ObjectMeta]]:
    for meta in scan(store, keys.checkpoints):
        parsed = keys.parse(meta.key)
        if parsed is not None and parsed.kind in _SIDECARS:
            yield parsed.number, meta
