"""The keys of distributed checkpoints, both directions."""

from __future__ import annotations

import re
from dataclasses import dataclass

from holdfast.errors import ConfigError
from holdfast.ids import CheckpointId
from holdfast.layout.names import escape_name, unescape_name

_PARTITION_MAX = 2**32 - 1


class CheckpointPaths:
    """Paths of distributed checkpoints: one directory per UUIDv7 id below a base prefix.

    The seed system left out the "/" after the id in four of its six paths; we write it, and
    `parse` reads both forms.
    """

    def __init__(self, base_prefix: str = "checkpoints/") -> None:
        self.base_prefix = base_prefix if base_prefix.endswith("/") else f"{base_prefix}/"
        if self.base_prefix == "/":
            self.base_prefix = ""

    def latest_pointer(self) -> str:
        return f"{self.base_prefix}_latest"

    def checkpoint_dir(self, checkpoint: CheckpointId) -> str:
        return f"{self.base_prefix}{checkpoint}/"

    def manifest(self, checkpoint: CheckpointId) -> str:
        return f"{self.checkpoint_dir(checkpoint)}manifest.json"

    def snapshot(self, checkpoint: CheckpointId, operator: str, partition: int) -> str:
        return self._partition(checkpoint, operator, partition, "snap")

    def delta(self, checkpoint: CheckpointId, operator: str, partition: int) -> str:
        return self._partition(checkpoint, operator, partition, "delta")

    def source_offset(self, checkpoint: CheckpointId, source_name: str) -> str:
        return f"{self.checkpoint_dir(checkpoint)}offsets/{escape_name(source_name)}.json"

    def seed_manifest(self, checkpoint: CheckpointId) -> str:
        """Where the seed system put its manifest: no "/" after the id."""
        return f"{self.seed_prefix(checkpoint)}manifest.json"

    def seed_prefix(self, checkpoint: CheckpointId) -> str:
        """What all keys of a checkpoint start with, in either form; ids have one length."""
        return f"{self.base_prefix}{checkpoint}"

    def relative(self, checkpoint: CheckpointId, key: str) -> str:
        """A key of this checkpoint as its manifest names it: from its directory."""
        return key.removeprefix(self.checkpoint_dir(checkpoint))

    def artifact(self, checkpoint: CheckpointId, path: str) -> str:
        """The key that a manifest's path means: ours are relative, the seed's are whole keys."""
        if path.startswith(self.seed_prefix(checkpoint)):
            return path
        return f"{self.checkpoint_dir(checkpoint)}{path}"

    def parse(self, key: str) -> DistributedKey | None:
        """What this key is, with or without the "/" after its id; nothing if not one of ours."""
        match = _DISTRIBUTED.fullmatch(key.removeprefix(self.base_prefix))
        if not key.startswith(self.base_prefix) or match is None:
            return None
        partition = None if match["partition"] is None else int(match["partition"])
        if partition is not None and partition > _PARTITION_MAX:
            return None
        return DistributedKey(
            checkpoint=CheckpointId.parse(match["id"]),
            manifest=match["manifest"] is not None,
            operator=unescape_name(match["operator"] or ""),
            partition=partition,
            is_delta=match["form"] == "delta",
            source=unescape_name(match["source"] or ""),
        )

    def _partition(self, checkpoint: CheckpointId, operator: str, partition: int, form: str) -> str:
        if not 0 <= partition <= _PARTITION_MAX:
            raise ConfigError("a partition is an unsigned 32-bit integer", partition=partition)
        directory = f"{self.checkpoint_dir(checkpoint)}operators/{escape_name(operator)}"
        return f"{directory}/partition-{partition}.{form}"


@dataclass(frozen=True, slots=True, kw_only=True)
class DistributedKey:
    """A key of a distributed checkpoint, taken apart."""

    checkpoint: CheckpointId
    manifest: bool = False
    operator: str = ""
    partition: int | None = None
    is_delta: bool = False
    source: str = ""


_DISTRIBUTED = re.compile(
    r"(?P<id>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/?"
    r"(?:(?P<manifest>manifest\.json)"
    r"|operators/(?P<operator>[^/]+)/partition-(?P<partition>0|[1-9][0-9]{0,9})\.(?P<form>snap|delta)"
    r"|offsets/(?P<source>[^/]+)\.json)"
)
