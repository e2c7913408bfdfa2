"""Replacing a manifest without losing what someone else wrote there."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.checkpoint.catalog import find
from holdfast.errors import MisuseError, NotFoundError, PreconditionError
from holdfast.manifest import CheckpointManifest
from holdfast.objectstore import Blob, ObjectStore, PutMode

if TYPE_CHECKING:
    from collections.abc import Iterable

    from holdfast.layout import Keys

VERSIONS_MAX = 4096


class Versions:
    """The version of each manifest that a caller last saw; the oldest are forgotten first."""

    def __init__(self) -> None:
        self._etags: dict[int, str] = {}

    def note(self, number: int, etag: str) -> None:
        self._etags.pop(number, None)
        self._etags[number] = etag
        if len(self._etags) > VERSIONS_MAX:
            self.forget([next(iter(self._etags))])

    def seen(self, number: int) -> str | None:
        return self._etags.get(number)

    def forget(self, numbers: Iterable[int]) -> None:
        for number in numbers:
            self._etags.pop(number, None)


def update(
    store: ObjectStore, keys: Keys, manifest: CheckpointManifest, versions: Versions
) -> None:
    """Put the manifest over the version that was seen.

    Raises:
        NotFoundError, PreconditionError, MisuseError, CorruptionError: see `CheckpointStore`.
    """
    number = manifest.checkpoint_id
    current = _current(store, keys, number)
    body = _merged(manifest, CheckpointManifest.decode(current.body)).encode(pretty=True)
    base = versions.seen(number) or current.meta.etag
    if current.body == body:  # ours already: an earlier try took effect, and its reply was lost
        versions.note(number, current.meta.etag)
        return
    try:
        meta = store.put(current.meta.key, body, mode=PutMode.if_match(base))
    except PreconditionError as error:
        raise _changed(number) from error
    versions.note(number, meta.etag)


def _current(store: ObjectStore, keys: Keys, number: int) -> Blob:
    current = find(store, keys.manifest(number))
    if current is not None:
        return current
    if find(store, keys.v1_manifest(number)) is not None:
        raise MisuseError(
            "the flat layout is read-only",
            hint="save a new checkpoint instead",
            checkpoint_id=number,
        )
    raise NotFoundError(
        "there is no such checkpoint to update", hint="save it first", checkpoint_id=number
    )


def _merged(manifest: CheckpointManifest, stored: CheckpointManifest) -> CheckpointManifest:
    """The argument, with what a status update has no reason to drop."""
    lineage = (stored.parent_id, stored.is_incremental)
    if (manifest.parent_id, manifest.is_incremental) != lineage:
        raise MisuseError(
            "a checkpoint's parent is fixed when it is saved",
            hint="load the manifest, change its statuses, update",
            checkpoint_id=manifest.checkpoint_id,
        )
    return replace(
        manifest,
        state_checksum=manifest.state_checksum or stored.state_checksum,
        extra={**stored.extra, **manifest.extra},
    )


def _changed(number: int) -> PreconditionError:
    return PreconditionError(
        "someone else changed this manifest",
        hint="load it again, apply the change to what you get, and update",
        checkpoint_id=number,
    )
