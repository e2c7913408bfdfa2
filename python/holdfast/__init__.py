"""Object-store-native checkpoints for Spark Structured Streaming.

Every public name can be imported from here. boto3 is loaded when an S3 store is opened.
"""

from typing import TYPE_CHECKING

from holdfast import layout
from holdfast.chain import (
    Chain,
    ChainReport,
    ChainWriter,
    Checkpoint,
    Committed,
    Head,
    NewFile,
    Recovery,
    Ref,
    RetentionReport,
    RolledBack,
    Validation,
)
from holdfast.checkpoint import (
    BatchMetrics,
    BatchMetricsSnapshot,
    CheckpointBatcher,
    CheckpointStore,
    DistributedCheckpoints,
    Issue,
    PartitionState,
    PruneReport,
    RecoveryReport,
    Severity,
    ValidationResult,
    VerificationResult,
)
from holdfast.clock import (
    Clock,
    SystemClock,
)
from holdfast.errors import (
    AlreadyExistsError,
    BridgeError,
    CarriedPlanError,
    CommitUnknownError,
    ConfigError,
    ConfigMismatchError,
    CorruptionError,
    DeleteError,
    FencedError,
    HoldfastError,
    MisuseError,
    NotFoundError,
    PermissionDeniedError,
    PreconditionError,
    StoreError,
    UnavailableError,
    UnsupportedError,
)
from holdfast.ids import (
    CheckpointId,
    Writer,
)
from holdfast.layout import (
    CheckpointPaths,
    Keys,
)
from holdfast.manifest import (
    CheckpointManifest,
    CheckpointManifestV2,
    ConnectorCheckpoint,
    Facts,
    InFlightRecord,
    ManifestValidationError,
    ObjectRef,
    OperatorCheckpoint,
    OperatorSnapshotEntry,
    PartitionSnapshotEntry,
    SinkCommitStatus,
    SinkState,
    SourceOffsetEntry,
)
from holdfast.objectstore import (
    S3_STANDARD,
    Blob,
    Certificate,
    LocalStore,
    MemoryStore,
    Meter,
    MeteredStore,
    ObjectMeta,
    ObjectStore,
    Page,
    Presigned,
    PriceTable,
    PutMode,
    RetryingStore,
    Usage,
    certify,
    ensure_certified,
    open_store,
    probe,
    redact,
    scan,
)
from holdfast.pack import (
    decode_batch,
    encode_batch,
)
from holdfast.sessions import (
    CLEAR,
    ConfigChange,
    Policy,
    QueryConfig,
    ResumePoint,
    SourceCheckpoint,
    SourceCheckpoints,
    StartDecision,
    config_difference,
    config_hash,
)
from holdfast.settings import (
    ChainSettings,
    RetrySettings,
    S3Settings,
)
from holdfast.version import VERSION

if TYPE_CHECKING:
    from holdfast.objectstore import S3Store

__version__ = VERSION

__all__ = [
    "CLEAR",
    "S3_STANDARD",
    "AlreadyExistsError",
    "BatchMetrics",
    "BatchMetricsSnapshot",
    "Blob",
    "BridgeError",
    "CarriedPlanError",
    "Certificate",
    "Chain",
    "ChainReport",
    "ChainSettings",
    "ChainWriter",
    "Checkpoint",
    "CheckpointBatcher",
    "CheckpointId",
    "CheckpointManifest",
    "CheckpointManifestV2",
    "CheckpointPaths",
    "CheckpointStore",
    "Clock",
    "CommitUnknownError",
    "Committed",
    "ConfigChange",
    "ConfigError",
    "ConfigMismatchError",
    "ConnectorCheckpoint",
    "CorruptionError",
    "DeleteError",
    "DistributedCheckpoints",
    "Facts",
    "FencedError",
    "Head",
    "HoldfastError",
    "InFlightRecord",
    "Issue",
    "Keys",
    "LocalStore",
    "ManifestValidationError",
    "MemoryStore",
    "Meter",
    "MeteredStore",
    "MisuseError",
    "NewFile",
    "NotFoundError",
    "ObjectMeta",
    "ObjectRef",
    "ObjectStore",
    "OperatorCheckpoint",
    "OperatorSnapshotEntry",
    "Page",
    "PartitionSnapshotEntry",
    "PartitionState",
    "PermissionDeniedError",
    "Policy",
    "PreconditionError",
    "Presigned",
    "PriceTable",
    "PruneReport",
    "PutMode",
    "QueryConfig",
    "Recovery",
    "RecoveryReport",
    "Ref",
    "ResumePoint",
    "RetentionReport",
    "RetrySettings",
    "RetryingStore",
    "RolledBack",
    "S3Settings",
    "S3Store",
    "Severity",
    "SinkCommitStatus",
    "SinkState",
    "SourceCheckpoint",
    "SourceCheckpoints",
    "SourceOffsetEntry",
    "StartDecision",
    "StoreError",
    "SystemClock",
    "UnavailableError",
    "UnsupportedError",
    "Usage",
    "Validation",
    "ValidationResult",
    "VerificationResult",
    "Writer",
    "__version__",
    "certify",
    "config_difference",
    "config_hash",
    "decode_batch",
    "encode_batch",
    "ensure_certified",
    "layout",
    "open_store",
    "probe",
    "redact",
    "scan",
]


def __getattr__(name: str) -> object:
    """`S3Store` at its first use: boto3 takes longer to import than all the rest."""
    if name == "S3Store":
        from holdfast.objectstore import S3Store  # noqa: PLC0415 - the reason is above

        return S3Store
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
