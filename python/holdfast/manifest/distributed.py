"""The manifest of a distributed checkpoint, version 2: one entry per operator and partition.

JSON that laminar-storage 0.18.5 reads and writes. Fields that this version does not know are
kept in `extra`, at every level, and written back as they were.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from holdfast.clock import SYSTEM_CLOCK, Clock
from holdfast.errors import ConfigError
from holdfast.ids import CheckpointId
from holdfast.manifest.fields import (
    I64_MAX,
    I64_MIN,
    U32_MAX,
    Fields,
    as_text,
    encode_checked,
    parse_object,
)

if TYPE_CHECKING:
    from typing_extensions import Buffer

VERSION = 2
_WHAT = "distributed manifest"


@dataclass(slots=True, kw_only=True)
class PartitionSnapshotEntry:
    """One stored partition; `path` is relative to its checkpoint's directory."""

    partition_id: int
    is_delta: bool
    path: str
    size_bytes: int
    sha256: str | None = None
    extra: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        own = {
            "partition_id": self.partition_id,
            "is_delta": self.is_delta,
            "path": self.path,
            "size_bytes": self.size_bytes,
            "sha256": self.sha256,
        }
        return {**own, **self.extra, **own}

    @classmethod
    def from_json(cls, value: object, what: str) -> PartitionSnapshotEntry:
        fields = Fields(value, what)
        return cls(
            partition_id=fields.integer("partition_id", high=U32_MAX),
            is_delta=fields.boolean("is_delta"),
            path=fields.text("path"),
            size_bytes=fields.integer("size_bytes"),
            sha256=fields.optional_text("sha256"),
            extra=fields.rest(),
        )


@dataclass(slots=True, kw_only=True)
class OperatorSnapshotEntry:
    """All partitions of one operator."""

    partitions: list[PartitionSnapshotEntry]
    total_bytes: int = 0
    extra: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        own = {
            "partitions": [entry.to_json() for entry in self.partitions],
            "total_bytes": self.total_bytes,
        }
        return {**own, **self.extra, **own}

    @classmethod
    def from_json(cls, value: object, what: str) -> OperatorSnapshotEntry:
        fields = Fields(value, what)
        return cls(
            partitions=[
                PartitionSnapshotEntry.from_json(item, f"{what}.partitions[{index}]")
                for index, item in enumerate(fields.array("partitions", missing_ok=False))
            ],
            total_bytes=fields.integer("total_bytes", default=0),
            extra=fields.rest(),
        )


@dataclass(slots=True, kw_only=True)
class SourceOffsetEntry:
    """Where a source stands, by the source's own names."""

    source_type: str
    offsets: dict[str, str]
    epoch: int
    extra: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        own = {"source_type": self.source_type, "offsets": self.offsets, "epoch": self.epoch}
        return {**own, **self.extra, **own}

    @classmethod
    def from_json(cls, value: object, what: str) -> SourceOffsetEntry:
        fields = Fields(value, what)
        return cls(
            source_type=fields.text("source_type"),
            offsets=fields.mapping("offsets", as_text, missing_ok=False),
            epoch=fields.integer("epoch"),
            extra=fields.rest(),
        )


@dataclass(slots=True, kw_only=True)
class CheckpointManifestV2:
    """What makes a distributed checkpoint exist."""

    version: int = VERSION
    checkpoint_id: CheckpointId
    epoch: int
    timestamp_ms: int
    operators: dict[str, OperatorSnapshotEntry] = field(default_factory=dict)
    source_offsets: dict[str, SourceOffsetEntry] = field(default_factory=dict)
    parent_id: CheckpointId | None = None
    watermark: int | None = None
    total_size_bytes: int = 0
    extra: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def new(
        cls, checkpoint_id: CheckpointId, epoch: int, *, clock: Clock = SYSTEM_CLOCK
    ) -> CheckpointManifestV2:
        """An empty manifest, stamped now."""
        return cls(checkpoint_id=checkpoint_id, epoch=epoch, timestamp_ms=clock.now_ms())

    def to_json(self) -> dict[str, Any]:
        """All nine fields and the unknown ones; maps in the order of their keys."""
        own = {
            "version": self.version,
            "checkpoint_id": str(self.checkpoint_id),
            "epoch": self.epoch,
            "timestamp_ms": self.timestamp_ms,
            "operators": {name: item.to_json() for name, item in sorted(self.operators.items())},
            "source_offsets": {
                name: item.to_json() for name, item in sorted(self.source_offsets.items())
            },
            "parent_id": None if self.parent_id is None else str(self.parent_id),
            "watermark": self.watermark,
            "total_size_bytes": self.total_size_bytes,
        }
        return {**own, **self.extra, **own}

    def encode(self, *, pretty: bool = False) -> bytes:
        """The JSON text.

        Raises:
            ConfigError: a value that no reader could take.
        """
        return encode_checked(self.to_json(), self.from_fields, _WHAT, pretty=pretty)

    @classmethod
    def decode(cls, data: Buffer) -> CheckpointManifestV2:
        """Read the JSON text.

        Raises:
            CorruptionError: not JSON, a required field is missing, or one is of a wrong type.
        """
        return cls.from_fields(parse_object(data, _WHAT))

    @classmethod
    def from_fields(cls, fields: Fields) -> CheckpointManifestV2:
        """Take the nine fields; what is left becomes `extra`."""
        parent = fields.optional_text("parent_id")
        return cls(
            version=fields.integer("version", high=U32_MAX),
            checkpoint_id=_id(fields, "checkpoint_id", fields.text("checkpoint_id")),
            epoch=fields.integer("epoch"),
            timestamp_ms=fields.integer("timestamp_ms"),
            operators=fields.mapping("operators", OperatorSnapshotEntry.from_json),
            source_offsets=fields.mapping("source_offsets", SourceOffsetEntry.from_json),
            parent_id=None if parent is None else _id(fields, "parent_id", parent),
            watermark=fields.optional_integer("watermark", low=I64_MIN, high=I64_MAX),
            total_size_bytes=fields.integer("total_size_bytes", default=0),
            extra=fields.rest(),
        )


def _id(fields: Fields, name: str, text: str) -> CheckpointId:
    try:
        return CheckpointId.parse(text)
    except ConfigError as error:
        raise fields.wrong(name, "a UUID", text) from error
