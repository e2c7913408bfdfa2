"""What checkpoints there are, and their parts: both layouts, read only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.checkpoint.pointer import latest_pointer, read_pointer
from holdfast.errors import CorruptionError, NotFoundError, UnavailableError
from holdfast.layout import Keys, Kind
from holdfast.manifest import CheckpointManifest
from holdfast.objectstore import Blob, ObjectMeta, ObjectStore, scan
from holdfast.settings import PUT_BYTES_MAX

if TYPE_CHECKING:
    from collections.abc import Iterator

RELIST_MAX = 5


@dataclass(frozen=True, slots=True)
class StoredManifest:
    """A manifest, and the version of the object that holds it."""

    manifest: CheckpointManifest
    meta: ObjectMeta


def list_ids(store: ObjectStore, keys: Keys) -> list[int]:
    """The numbers of all manifests, readable or not, in ascending order."""
    return sorted({*_v2_ids(store, keys), *list_v1_ids(store, keys)})


def list_v1_ids(store: ObjectStore, keys: Keys) -> set[int]:
    return set(_numbers(store, keys, Kind.V1_MANIFEST, keys.v1_checkpoints))


def newest_id(store: ObjectStore, keys: Keys) -> int | None:
    """The highest number; the pointer only shortens the listing."""
    hint, _ = read_pointer(store, latest_pointer(keys))
    found: set[int] = set()
    if hint is not None:
        found = _v2_ids(store, keys, start_after=keys.before_manifests_above(hint))
    if hint is None or max(found, default=-1) < hint:  # it names nothing, or what is gone
        found = _v2_ids(store, keys)
    return max(found | list_v1_ids(store, keys), default=None)


def load_manifest(store: ObjectStore, keys: Keys, number: int) -> StoredManifest | None:
    """The manifest of this number, from the flat layout where there is no other.

    Raises:
        CorruptionError: it is there and cannot be read, or it is that of another number.
    """
    for key in (keys.manifest(number), keys.v1_manifest(number)):
        blob = find(store, key)
        if blob is not None:
            return StoredManifest(_decode(blob.body, number), blob.meta)
    return None


def load_newest(store: ObjectStore, keys: Keys) -> StoredManifest | None:
    """The manifest with the highest number; nothing only if there is none at all.

    Raises:
        CorruptionError: it cannot be read.
        UnavailableError: what was listed was gone again, five times in a row.
    """
    for _ in range(RELIST_MAX):
        number = newest_id(store, keys)
        if number is None:
            return None
        stored = load_manifest(store, keys, number)
        if stored is not None:
            return stored
    raise UnavailableError("checkpoints vanish while they are read", hint="try again")


def load_state(store: ObjectStore, keys: Keys, number: int) -> bytes | None:
    """The sidecar of this number, from the flat layout where there is no other."""
    for key in (keys.state(number), keys.v1_state(number)):
        blob = find(store, key, length=PUT_BYTES_MAX)
        if blob is not None:
            return blob.body
    return None


def state_size(store: ObjectStore, keys: Keys, number: int) -> int | None:
    for key in (keys.state(number), keys.v1_state(number)):
        try:
            return store.head(key).size
        except NotFoundError:
            continue
    return None


def find(store: ObjectStore, key: str, *, length: int | None = None) -> Blob | None:
    """The object, or nothing if there is none."""
    try:
        return store.get(key, length=length)
    except NotFoundError:
        return None


def _v2_ids(store: ObjectStore, keys: Keys, *, start_after: str = "") -> set[int]:
    return set(_numbers(store, keys, Kind.MANIFEST, keys.manifests, start_after=start_after))


def _numbers(
    store: ObjectStore, keys: Keys, kind: Kind, prefix: str, *, start_after: str = ""
) -> Iterator[int]:
    for meta in scan(store, prefix, start_after=start_after):
        parsed = keys.parse(meta.key)
        if parsed is not None and parsed.kind is kind:
            yield parsed.number


def _decode(body: bytes, number: int) -> CheckpointManifest:
    manifest = CheckpointManifest.decode(body)
    if manifest.checkpoint_id != number:
        raise CorruptionError(
            "a manifest is that of another checkpoint",
            expected=number,
            found=manifest.checkpoint_id,
        )
    return manifest
