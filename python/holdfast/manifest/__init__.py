"""Manifests: what makes a checkpoint exist, as bytes in and bytes out."""

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
    "ConnectorCheckpoint",
    "InFlightRecord",
    "ManifestValidationError",
    "OperatorCheckpoint",
    "SinkCommitStatus",
    "SinkState",
]
