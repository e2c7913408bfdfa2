"""Checkpoints on an object store without a chain: by number, in batches, by partition."""

from holdfast.checkpoint.batcher import CheckpointBatcher
from holdfast.checkpoint.distributed import DistributedCheckpoints
from holdfast.checkpoint.metrics import BatchMetrics, BatchMetricsSnapshot
from holdfast.checkpoint.partitions import PartitionState
from holdfast.checkpoint.pruning import PruneReport
from holdfast.checkpoint.recovery import RecoveryReport
from holdfast.checkpoint.store import CheckpointStore
from holdfast.checkpoint.validation import Issue, Severity, ValidationResult
from holdfast.checkpoint.verification import VerificationResult

__all__ = [
    "BatchMetrics",
    "BatchMetricsSnapshot",
    "CheckpointBatcher",
    "CheckpointStore",
    "DistributedCheckpoints",
    "Issue",
    "PartitionState",
    "PruneReport",
    "RecoveryReport",
    "Severity",
    "ValidationResult",
    "VerificationResult",
]
