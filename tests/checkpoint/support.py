"""What the tests of the checkpoint store share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.layout import Keys
from holdfast.manifest import CheckpointManifest
from holdfast.objectstore import Blob, Body, MemoryStore, ObjectMeta, ObjectStore, PutMode, scan

if TYPE_CHECKING:
    from collections.abc import Callable

KEYS = Keys("q/")


def manifest(number: int, epoch: int | None = None, **fields: Any) -> CheckpointManifest:
    """A checkpoint that is always the same for the same arguments."""
    return CheckpointManifest(
        checkpoint_id=number, epoch=number if epoch is None else epoch, timestamp_ms=1, **fields
    )


def child(number: int, parent: int) -> CheckpointManifest:
    return manifest(number, is_incremental=True, parent_id=parent)


def put_flat(store: ObjectStore, number: int, state: bytes | None = None) -> None:
    """A checkpoint in the flat layout, as an old version wrote it."""
    if state is not None:
        store.put(KEYS.v1_state(number), state)
    store.put(KEYS.v1_manifest(number), manifest(number).encode(pretty=True))
    store.put(KEYS.v1_latest, f"checkpoint_{number:06}".encode())


def put_chain(store: ObjectStore, number: int) -> None:
    """A manifest such as a chain writes."""
    body = manifest(number, extra={"holdfast": {"format": 1}}).encode()
    store.put(KEYS.manifest(number), body)


def contents(store: ObjectStore) -> dict[str, bytes]:
    return {meta.key: store.get(meta.key).body for meta in scan(store)}


def names(store: ObjectStore) -> set[str]:
    return {meta.key.removeprefix("q/") for meta in scan(store)}


class Meanwhile(MemoryStore):
    """Something else happens just before a call: once per (verb, key), in `before`."""

    def __init__(self) -> None:
        super().__init__()
        self.before: dict[tuple[str, str], Callable[[], object]] = {}

    def put(self, key: str, body: Body, *, mode: PutMode = PutMode.OVERWRITE) -> ObjectMeta:
        self._happen("put", key)
        return super().put(key, body, mode=mode)

    def get(self, key: str, *, start: int = 0, length: int | None = None) -> Blob:
        self._happen("get", key)
        return super().get(key, start=start, length=length)

    def _happen(self, verb: str, key: str) -> None:
        self.before.pop((verb, key), lambda: None)()
