"""The parts of a distributed checkpoint before they are stored: which keys, sizes and hashes."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

import orjson

from holdfast.errors import ConfigError
from holdfast.manifest import OperatorSnapshotEntry, PartitionSnapshotEntry

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from holdfast.ids import CheckpointId
    from holdfast.layout import CheckpointPaths
    from holdfast.manifest import CheckpointManifestV2, SourceOffsetEntry
    from holdfast.objectstore import Body


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionState:
    """One partition of one operator, to be stored: all of it, or what changed since."""

    operator: str
    partition: int
    data: Body
    is_delta: bool = False


class Upload(NamedTuple):
    """One object to create."""

    key: str
    body: Body


def ordered(partitions: Iterable[PartitionState]) -> list[PartitionState]:
    """By operator, then partition, a full one before its delta.

    Raises:
        ConfigError: one comes twice.
    """
    found = sorted(partitions, key=_position)
    for position, count in Counter(map(_position, found)).items():
        if count > 1:
            operator, partition, _ = position
            raise ConfigError("a partition comes twice", operator=operator, partition=partition)
    return found


def filled(
    manifest: CheckpointManifestV2, paths: CheckpointPaths, partitions: Sequence[PartitionState]
) -> CheckpointManifestV2:
    """The manifest with one entry for each of these partitions, in their order.

    Raises:
        ConfigError: it has operators already, or a name or number cannot be stored.
    """
    if manifest.operators:
        raise ConfigError(
            "save fills in the operators itself", hint="pass their data as partitions"
        )
    operators = {
        operator: _operator([_entry(manifest.checkpoint_id, paths, state) for state in states])
        for operator, states in groupby(partitions, key=lambda state: state.operator)
    }
    total = sum(operator.total_bytes for operator in operators.values())
    return replace(manifest, operators=operators, total_size_bytes=total)


def uploads(
    manifest: CheckpointManifestV2, paths: CheckpointPaths, partitions: Sequence[PartitionState]
) -> Iterator[Upload]:
    """All objects of a checkpoint but its manifest."""
    checkpoint = manifest.checkpoint_id
    for state in partitions:
        yield Upload(_key(checkpoint, paths, state), state.data)
    for name, entry in sorted(manifest.source_offsets.items()):
        yield Upload(paths.source_offset(checkpoint, name), source_offset_bytes(entry))


def source_offset_bytes(entry: SourceOffsetEntry) -> bytes:
    """What a source's own object holds: its entry of the manifest."""
    return orjson.dumps(entry.to_json(), option=orjson.OPT_SORT_KEYS)


def _position(state: PartitionState) -> tuple[str, int, bool]:
    return state.operator, state.partition, state.is_delta


def _operator(entries: list[PartitionSnapshotEntry]) -> OperatorSnapshotEntry:
    total = sum(entry.size_bytes for entry in entries)
    return OperatorSnapshotEntry(partitions=entries, total_bytes=total)


def _entry(
    checkpoint: CheckpointId, paths: CheckpointPaths, state: PartitionState
) -> PartitionSnapshotEntry:
    return PartitionSnapshotEntry(
        partition_id=state.partition,
        is_delta=state.is_delta,
        path=paths.relative(checkpoint, _key(checkpoint, paths, state)),
        size_bytes=len(state.data),
        sha256=hashlib.sha256(state.data).hexdigest(),
    )


def _key(checkpoint: CheckpointId, paths: CheckpointPaths, state: PartitionState) -> str:
    build = paths.delta if state.is_delta else paths.snapshot
    return build(checkpoint, state.operator, state.partition)
