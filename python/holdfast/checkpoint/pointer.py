"""Pointers: one small object that names the newest checkpoint, and only ever moves forward.

A pointer is a hint for readers. It may lag behind a writer that was killed, and it may name what
is gone; so nothing is concluded from it that a listing does not confirm.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

import orjson

from holdfast.errors import (
    AlreadyExistsError,
    ConfigError,
    NotFoundError,
    PreconditionError,
    UnavailableError,
)
from holdfast.ids import CheckpointId
from holdfast.layout import CheckpointPaths, Keys, v1_latest_number
from holdfast.objectstore import ObjectStore, PutMode
from holdfast.settings import U64_MAX

if TYPE_CHECKING:
    from collections.abc import Callable

ATTEMPTS_MAX = 32

T = TypeVar("T", int, CheckpointId)


@dataclass(frozen=True, slots=True)
class Pointer(Generic[T]):
    """Where a pointer is, and its text in both directions; `decode` gives nothing for damage."""

    key: str
    encode: Callable[[T], bytes]
    decode: Callable[[bytes], T | None]


def latest_pointer(keys: Keys) -> Pointer[int]:
    """`manifests/latest.json`, which names a number."""
    return Pointer(keys.latest, _encode_number, _decode_number)


def pruned_pointer(keys: Keys) -> Pointer[int]:
    """`manifests/pruned.json`, which names the greatest id that was pruned."""
    return Pointer(keys.pruned, _encode_number, _decode_number)


def distributed_pointer(paths: CheckpointPaths) -> Pointer[CheckpointId]:
    """`_latest`, which names a UUID."""
    return Pointer(paths.latest_pointer(), _encode_id, _decode_id)


def read_pointer(store: ObjectStore, pointer: Pointer[T]) -> tuple[T | None, str]:
    """What it names, if anything, and the version that says so (empty if there is no pointer)."""
    try:
        blob = store.get(pointer.key)
    except NotFoundError:
        return None, ""
    return pointer.decode(blob.body), blob.meta.etag


def advance_pointer(
    store: ObjectStore, pointer: Pointer[T], target: T, newest: Callable[[], T | None]
) -> None:
    """Let it name at least `target`; `newest` is asked where the pointer itself says nothing.

    Raises:
        UnavailableError: other writers moved it 32 times in a row; the checkpoint is saved.
    """
    for _ in range(ATTEMPTS_MAX):
        named, etag = read_pointer(store, pointer)
        if named is not None and named >= target:
            return
        goal = target if named is not None else max(target, newest() or target)
        mode = PutMode.if_match(etag) if etag else PutMode.CREATE
        try:
            store.put(pointer.key, pointer.encode(goal), mode=mode)
        except (AlreadyExistsError, PreconditionError):
            continue
        return
    raise UnavailableError(
        "other writers keep moving the pointer",
        hint="the checkpoint is saved; save the same again to move the pointer",
        key=pointer.key,
    )


def read_v1_latest(store: ObjectStore, keys: Keys) -> int | None:
    """The number that a flat layout's `latest.txt` names, if it names one."""
    try:
        text = store.get(keys.v1_latest).body
    except NotFoundError:
        return None
    return v1_latest_number(text.decode(errors="replace"))


def _encode_number(number: int) -> bytes:
    return orjson.dumps({"checkpoint_id": number})


def _decode_number(body: bytes) -> int | None:
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    number = document.get("checkpoint_id") if isinstance(document, dict) else None
    return number if type(number) is int and 0 <= number <= U64_MAX else None


def _encode_id(checkpoint: CheckpointId) -> bytes:
    return checkpoint.to_string_id().encode()


def _decode_id(body: bytes) -> CheckpointId | None:
    try:
        return CheckpointId.parse(body.decode(errors="replace").strip())
    except ConfigError:
        return None
