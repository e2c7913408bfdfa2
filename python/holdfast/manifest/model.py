"""The checkpoint manifest, version 1: what laminar-storage 0.18.5 reads and writes as JSON.

Fields that this version does not know are kept in `extra` and written back as they were.
Integers are exact up to 2^64-1.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from holdfast.clock import SYSTEM_CLOCK, Clock
from holdfast.manifest.fields import (
    I64_MAX,
    I64_MIN,
    U32_MAX,
    Fields,
    as_i64,
    as_u64,
    encode_checked,
    parse_object,
)
from holdfast.manifest.nested import (
    ConnectorCheckpoint,
    InFlightRecord,
    OperatorCheckpoint,
    SinkCommitStatus,
)

if TYPE_CHECKING:
    from typing_extensions import Buffer


@dataclass(frozen=True, slots=True)
class ManifestValidationError:
    """One thing that looks wrong in a manifest; a warning unless the id or the epoch is 0."""

    message: str

    def __str__(self) -> str:
        return self.message


@dataclass(slots=True, kw_only=True)
class CheckpointManifest:
    """A point-in-time snapshot of all of a pipeline's state."""

    version: int = 1
    checkpoint_id: int
    epoch: int
    timestamp_ms: int
    source_offsets: dict[str, ConnectorCheckpoint] = field(default_factory=dict)
    sink_epochs: dict[str, int] = field(default_factory=dict)
    sink_commit_statuses: dict[str, SinkCommitStatus] = field(default_factory=dict)
    table_offsets: dict[str, ConnectorCheckpoint] = field(default_factory=dict)
    operator_states: dict[str, OperatorCheckpoint] = field(default_factory=dict)
    table_store_checkpoint_path: str | None = None
    wal_position: int = 0
    per_core_wal_positions: list[int] = field(default_factory=list)
    watermark: int | None = None
    source_watermarks: dict[str, int] = field(default_factory=dict)
    source_names: list[str] = field(default_factory=list)
    sink_names: list[str] = field(default_factory=list)
    pipeline_hash: int | None = None
    inflight_data: dict[str, list[InFlightRecord]] = field(default_factory=dict)
    size_bytes: int = 0
    is_incremental: bool = False
    parent_id: int | None = None
    state_checksum: str | None = None
    extra: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def new(
        cls, checkpoint_id: int, epoch: int, *, clock: Clock = SYSTEM_CLOCK
    ) -> CheckpointManifest:
        """An empty manifest, stamped now."""
        return cls(checkpoint_id=checkpoint_id, epoch=epoch, timestamp_ms=clock.now_ms())

    def validate(self) -> list[ManifestValidationError]:
        """What looks wrong, in a fixed order; empty if nothing does."""
        found = [f"manifest {name} is 0" for name in _NONZERO if getattr(self, name) == 0]
        if self.sink_commit_statuses:
            found += [
                f"sink '{sink}' has epoch but no commit status"
                for sink in self.sink_epochs
                if sink not in self.sink_commit_statuses
            ]
        if self.source_names:
            known = set(self.source_names)
            found += [
                f"source_offsets contains '{source}' not in source_names"
                for source in self.source_offsets
                if source not in known
            ]
        if self.is_incremental and self.parent_id is None:
            found.append("incremental checkpoint has no parent_id")
        return [ManifestValidationError(message) for message in found]

    def to_json(self) -> dict[str, Any]:
        """All 22 fields and the unknown ones; maps in the order of their keys."""
        document: dict[str, Any] = {name: getattr(self, name) for name in _PLAIN}
        document["source_offsets"] = _map(self.source_offsets)
        document["sink_epochs"] = dict(sorted(self.sink_epochs.items()))
        document["sink_commit_statuses"] = _map(self.sink_commit_statuses)
        document["table_offsets"] = _map(self.table_offsets)
        document["operator_states"] = _map(self.operator_states)
        document["source_watermarks"] = dict(sorted(self.source_watermarks.items()))
        document["inflight_data"] = {
            name: [record.to_json() for record in records]
            for name, records in sorted(self.inflight_data.items())
        }
        # Twice, so that the fields come first and no unknown one can take the place of a known.
        return {**document, **self.extra, **document}

    def encode(self, *, pretty: bool = False) -> bytes:
        """The JSON text.

        Raises:
            ConfigError: a value that no reader could take, such as a negative or over-large number.
        """
        return encode_checked(self.to_json(), self.from_fields, "manifest", pretty=pretty)

    @classmethod
    def decode(cls, data: Buffer) -> CheckpointManifest:
        """Read the JSON text.

        Raises:
            CorruptionError: not JSON, a required field is missing, or one is of a wrong type.
        """
        return cls.from_fields(parse_object(data, "manifest"))

    @classmethod
    def from_fields(cls, fields: Fields) -> CheckpointManifest:
        """Take the 22 fields; what is left becomes `extra`."""
        return cls(
            version=fields.integer("version", high=U32_MAX),
            checkpoint_id=fields.integer("checkpoint_id"),
            epoch=fields.integer("epoch"),
            timestamp_ms=fields.integer("timestamp_ms"),
            source_offsets=fields.mapping("source_offsets", ConnectorCheckpoint.from_json),
            sink_epochs=fields.mapping("sink_epochs", as_u64),
            sink_commit_statuses=fields.mapping("sink_commit_statuses", SinkCommitStatus.from_json),
            table_offsets=fields.mapping("table_offsets", ConnectorCheckpoint.from_json),
            operator_states=fields.mapping("operator_states", OperatorCheckpoint.from_json),
            table_store_checkpoint_path=fields.optional_text("table_store_checkpoint_path"),
            wal_position=fields.integer("wal_position", default=0),
            per_core_wal_positions=fields.integers("per_core_wal_positions"),
            watermark=fields.optional_integer("watermark", low=I64_MIN, high=I64_MAX),
            source_watermarks=fields.mapping("source_watermarks", as_i64),
            source_names=fields.array("source_names", of=str),
            sink_names=fields.array("sink_names", of=str),
            pipeline_hash=fields.optional_integer("pipeline_hash"),
            inflight_data=fields.mapping("inflight_data", _records),
            size_bytes=fields.integer("size_bytes", default=0),
            is_incremental=fields.boolean("is_incremental", default=False),
            parent_id=fields.optional_integer("parent_id"),
            state_checksum=fields.optional_text("state_checksum"),
            extra=fields.rest(),
        )


_NONZERO = ("version", "checkpoint_id", "epoch", "timestamp_ms")
_PLAIN = (
    "version",
    "checkpoint_id",
    "epoch",
    "timestamp_ms",
    "table_store_checkpoint_path",
    "wal_position",
    "per_core_wal_positions",
    "watermark",
    "source_names",
    "sink_names",
    "pipeline_hash",
    "size_bytes",
    "is_incremental",
    "parent_id",
    "state_checksum",
)


def _map(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value.to_json() for name, value in sorted(values.items())}


def _records(value: object, what: str) -> list[InFlightRecord]:
    items = Fields({"records": value}, what).array("records")
    return [InFlightRecord.from_json(item, what) for item in items]
