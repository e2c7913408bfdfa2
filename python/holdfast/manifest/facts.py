"""What a batch knows about its sources and sinks, in the manifest's own fields."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.manifest.model import CheckpointManifest
    from holdfast.manifest.nested import ConnectorCheckpoint, SinkCommitStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """True of the batch that a manifest commits; a claim repeats those of its parent."""

    source_offsets: Mapping[str, ConnectorCheckpoint] = field(default_factory=dict)
    sink_epochs: Mapping[str, int] = field(default_factory=dict)
    sink_commit_statuses: Mapping[str, SinkCommitStatus] = field(default_factory=dict)
    watermark: int | None = None
    source_names: tuple[str, ...] = ()
    sink_names: tuple[str, ...] = ()
    pipeline_hash: int | None = None

    @classmethod
    def of(cls, manifest: CheckpointManifest) -> Facts:
        return cls(
            source_offsets=manifest.source_offsets,
            sink_epochs=manifest.sink_epochs,
            sink_commit_statuses=manifest.sink_commit_statuses,
            watermark=manifest.watermark,
            source_names=tuple(manifest.source_names),
            sink_names=tuple(manifest.sink_names),
            pipeline_hash=manifest.pipeline_hash,
        )

    def write_to(self, manifest: CheckpointManifest) -> None:
        manifest.source_offsets = dict(self.source_offsets)
        manifest.sink_epochs = dict(self.sink_epochs)
        manifest.sink_commit_statuses = dict(self.sink_commit_statuses)
        manifest.watermark = self.watermark
        manifest.source_names = sorted(self.source_names)
        manifest.sink_names = sorted(self.sink_names)
        manifest.pipeline_hash = self.pipeline_hash
