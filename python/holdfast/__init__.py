"""Object-store-native checkpoints for Spark Structured Streaming.

Every public name can be imported from here. boto3 is loaded when an S3 store is opened, and
pyspark when one of the names that need it is used.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from holdfast import layout, requirements  # noqa: F401 - it says what is missing, at once
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
    innermost,
    open_store,
    probe,
    redact,
    scan,
    with_meter,
)
from holdfast.pack import (
    decode_batch,
    encode_batch,
)
from holdfast.sessions import (
    CLEAR,
    ConfigChange,
    Outcome,
    Policy,
    QueryConfig,
    ResumePoint,
    SourceCheckpoint,
    SourceCheckpoints,
    StartDecision,
    config_difference,
    config_hash,
)
from holdfast.sessions import remove as remove_sources
from holdfast.sessions import start as start_sources
from holdfast.settings import (
    ChainSettings,
    RetrySettings,
    S3Settings,
)
from holdfast.version import VERSION

if TYPE_CHECKING:
    from holdfast.objectstore import S3Store
    from holdfast.spark.batchsources import batch_sources
    from holdfast.spark.ledgers import DatabaseLedger, DeltaLedger
    from holdfast.spark.session import configure, enable, session, status
    from holdfast.spark.sinks import at_least_once, exactly_once
    from holdfast.spark.start import start
    from holdfast.spark.status import Status

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
    "DatabaseLedger",
    "DeleteError",
    "DeltaLedger",
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
    "Outcome",
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
    "Status",
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
    "at_least_once",
    "batch_sources",
    "certify",
    "config_difference",
    "config_hash",
    "configure",
    "decode_batch",
    "enable",
    "encode_batch",
    "ensure_certified",
    "exactly_once",
    "innermost",
    "layout",
    "open_store",
    "probe",
    "redact",
    "remove_sources",
    "scan",
    "session",
    "start",
    "start_sources",
    "status",
    "with_meter",
]


_LAZY = {
    "S3Store": "objectstore",
    "DatabaseLedger": "spark.ledgers",
    "DeltaLedger": "spark.ledgers",
    "Status": "spark.status",
    "at_least_once": "spark.sinks",
    "batch_sources": "spark.batchsources",
    "configure": "spark.session",
    "enable": "spark.session",
    "exactly_once": "spark.sinks",
    "session": "spark.session",
    "start": "spark.start",
    "status": "spark.session",
}


def __getattr__(name: str) -> object:
    """What is heavy, at its first use: boto3 and pyspark take longer to import than the rest."""
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        module = import_module(f"{__name__}.{_LAZY[name]}")
    except ModuleNotFoundError as error:
        if error.name not in ("pyspark", "py4j"):
            raise
        raise BridgeError(
            "this needs PySpark, which is not installed here",
            hint='pip install "holdfast[spark]"',
            name=name,
        ) from error
    return getattr(module, name)
