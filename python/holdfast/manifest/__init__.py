"""Manifests: what makes a checkpoint exist, as bytes in and bytes out."""

from holdfast.manifest.distributed import (
    CheckpointManifestV2,
    OperatorSnapshotEntry,
    PartitionSnapshotEntry,
    SourceOffsetEntry,
)
from holdfast.manifest.facts import Facts
from holdfast.manifest.files import ObjectRef
from holdfast.manifest.model import CheckpointManifest, ManifestValidationError
from holdfast.manifest.nested import (
    ConnectorCheckpoint,
    InFlightRecord,
    OperatorCheckpoint,
    SinkCommitStatus,
    SinkState,
)

__all__ = [
    "CheckpointManifest",
    "CheckpointManifestV2",
    "ConnectorCheckpoint",
    "Facts",
    "InFlightRecord",
    "ManifestValidationError",
    "ObjectRef",
    "OperatorCheckpoint",
    "OperatorSnapshotEntry",
    "PartitionSnapshotEntry",
    "SinkCommitStatus",
    "SinkState",
    "SourceOffsetEntry",
]
