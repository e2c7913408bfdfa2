"""One manifest of each kind with every field set, at the edges of its range."""

from __future__ import annotations

from holdfast.ids import CheckpointId
from holdfast.manifest import (
    CheckpointManifest,
    CheckpointManifestV2,
    ConnectorCheckpoint,
    InFlightRecord,
    OperatorCheckpoint,
    OperatorSnapshotEntry,
    PartitionSnapshotEntry,
    SinkCommitStatus,
    SourceOffsetEntry,
)
from holdfast.settings import U64_MAX

I64_MIN, I64_MAX = -(2**63), 2**63 - 1
SIDECAR = b"0123456789 sidecar"


def full_manifest(checkpoint_id: int = 1) -> CheckpointManifest:
    connector = ConnectorCheckpoint(
        offsets={"0": str(U64_MAX), "größe": ""}, epoch=U64_MAX, metadata={"topic": 'a "b"\n'}
    )
    return CheckpointManifest(
        version=1,
        checkpoint_id=checkpoint_id,
        epoch=U64_MAX,
        timestamp_ms=1_700_000_000_123,
        source_offsets={"source": connector},
        sink_epochs={"sink": U64_MAX, "other": 7, "third": 0},
        sink_commit_statuses={
            "sink": SinkCommitStatus.pending(),
            "other": SinkCommitStatus.failed("it\nbroke"),
            "third": SinkCommitStatus.committed(),
        },
        table_offsets={"table": connector},
        operator_states={
            "inline": OperatorCheckpoint.inline(b"\x00\xffstate"),
            "empty": OperatorCheckpoint.inline(b""),
            "external": OperatorCheckpoint.at(2, 5),
        },
        table_store_checkpoint_path="tables/1",
        wal_position=U64_MAX,
        per_core_wal_positions=[0, U64_MAX],
        watermark=I64_MIN,
        source_watermarks={"source": I64_MAX},
        source_names=["source"],
        sink_names=["other", "sink", "third"],
        pipeline_hash=U64_MAX,
        inflight_data={"inline": [InFlightRecord(input_id=1, data_b64="AAE=")]},
        size_bytes=U64_MAX,
        is_incremental=True,
        parent_id=U64_MAX,
        state_checksum="ab" * 32,
    )


def full_distributed() -> CheckpointManifestV2:
    snapshot = PartitionSnapshotEntry(
        partition_id=0,
        is_delta=False,
        path="operators/agg/partition-0.snap",
        size_bytes=U64_MAX,
        sha256="cd" * 32,
    )
    delta = PartitionSnapshotEntry(
        partition_id=2**32 - 1,
        is_delta=True,
        path="operators/agg/partition-4294967295.delta",
        size_bytes=0,
    )
    return CheckpointManifestV2(
        checkpoint_id=CheckpointId.parse("0190b6d5-3b7c-7def-8123-456789abcdef"),
        epoch=U64_MAX,
        timestamp_ms=1_700_000_000_123,
        operators={"agg": OperatorSnapshotEntry(partitions=[snapshot, delta], total_bytes=9)},
        source_offsets={
            "trades": SourceOffsetEntry(
                source_type="kafka", offsets={"partition-0": "12"}, epoch=U64_MAX
            )
        },
        parent_id=CheckpointId.parse("0190b6d5-3b7c-7def-8123-456789abcdee"),
        watermark=I64_MIN,
        total_size_bytes=U64_MAX,
    )
