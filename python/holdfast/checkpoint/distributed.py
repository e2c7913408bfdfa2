"""Distributed checkpoints: one object per operator and partition, under one UUIDv7 each.

Invariants: every partition given is in the manifest, in a fixed order; whatever a manifest names
is durable before it exists; `_latest` never moves back.

Failure: killed before the manifest → objects that no manifest names; the checkpoint does not
exist, and `delete` of its id removes them. Killed after it → the checkpoint is there, and
`load_latest` finds it although `_latest` lags. Saving the same again is safe at any point.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from holdfast.checkpoint.catalog import RELIST_MAX, find
from holdfast.checkpoint.creation import create_once
from holdfast.checkpoint.partitions import PartitionState, Upload, filled, ordered, uploads
from holdfast.checkpoint.pointer import advance_pointer, distributed_pointer, read_pointer
from holdfast.checkpoint.verification import VerificationResult, read_artifact, verify
from holdfast.errors import (
    AlreadyExistsError,
    ConfigError,
    CorruptionError,
    MisuseError,
    NotFoundError,
    UnavailableError,
)
from holdfast.ids import CheckpointId
from holdfast.layout import CheckpointPaths
from holdfast.manifest import CheckpointManifestV2
from holdfast.objectstore import ObjectStore, check_key, scan
from holdfast.objectstore.parallel import gather

if TYPE_CHECKING:
    from collections.abc import Iterable

    from holdfast.manifest import PartitionSnapshotEntry

MAX_CONCURRENT = 8

_Ids: TypeAlias = list[CheckpointId]


class DistributedCheckpoints:
    """Saves, loads, verifies, lists and deletes checkpoints of many partitions.

    Any thread may call any method. The seed system's own checkpoints are read, listed, verified
    and deleted too, in its form without the "/" after the id.
    """

    def __init__(
        self,
        store: ObjectStore,
        paths: CheckpointPaths | None = None,
        max_concurrent: int = MAX_CONCURRENT,
    ) -> None:
        """Nothing is written yet; the default paths are those below `checkpoints/`.

        Raises:
            ConfigError: `max_concurrent` is below 1, or a base prefix that no store can hold.
        """
        if max_concurrent < 1:
            raise ConfigError("must be at least 1", setting="max_concurrent", value=max_concurrent)
        self._store = store
        self._paths = paths or CheckpointPaths()
        self._parallel = max_concurrent
        self._pointer = distributed_pointer(self._paths)
        check_key(self._pointer.key)

    def save(
        self, manifest: CheckpointManifestV2, partitions: Iterable[PartitionState]
    ) -> CheckpointManifestV2:
        """Upload every partition, then create the manifest that names them, then move `_latest`.

        Costs one put per partition, per source and for the manifest, and a get and a put for
        `_latest`; at most `max_concurrent` uploads are under way at a time.

        Returns:
            The manifest as it is stored: the argument with its operators and sizes filled in.

        Raises:
            AlreadyExistsError: something else is stored under this id; take a new one.
            ConfigError: the manifest names operators already, a partition comes twice, or a name
                or number cannot be stored; nothing was written.
            UnavailableError: save the same again.
        """
        states = ordered(partitions)
        stored = filled(manifest, self._paths, states)
        body = stored.encode(pretty=True)
        parts = list(uploads(stored, self._paths, states))
        gather(self._upload, parts, parallel=self._parallel)
        self._upload(Upload(self._paths.manifest(manifest.checkpoint_id), body))
        advance_pointer(self._store, self._pointer, manifest.checkpoint_id, self._newest)
        return stored

    def load(self, checkpoint: CheckpointId) -> CheckpointManifestV2:
        """The manifest of this checkpoint.

        Raises:
            NotFoundError: there is no such checkpoint.
            CorruptionError: the manifest cannot be read, or is that of another id.
        """
        for key in (self._paths.manifest(checkpoint), self._paths.seed_manifest(checkpoint)):
            blob = find(self._store, key)
            if blob is not None:
                return _decode(blob.body, checkpoint)
        raise NotFoundError("there is no such checkpoint", checkpoint=checkpoint)

    def load_partition(self, checkpoint: CheckpointId, entry: PartitionSnapshotEntry) -> bytes:
        """The bytes of one partition, which are those that were saved.

        Raises:
            CorruptionError: they are gone, or of another size or hash.
        """
        return read_artifact(self._store, self._paths, checkpoint, entry)

    def load_latest(self) -> CheckpointManifestV2 | None:
        """The manifest with the highest id; nothing only if there is none at all.

        The listing decides, so a pointer that lags, dangles or is damaged changes nothing.

        Raises:
            CorruptionError: that manifest cannot be read.
        """
        for _ in range(RELIST_MAX):
            checkpoint = self._newest()
            if checkpoint is None:
                return None
            try:
                return self.load(checkpoint)
            except NotFoundError:
                continue
        raise UnavailableError("checkpoints vanish while they are read", hint="try again")

    def read_latest(self) -> CheckpointId | None:
        """What `_latest` names, whether or not that is there; nothing if there is no pointer.

        Raises:
            CorruptionError: it holds no id.
        """
        named, etag = read_pointer(self._store, self._pointer)
        if named is None and etag:
            raise CorruptionError(
                "the pointer holds no checkpoint id",
                hint="load_latest does without it, and the next save mends it",
                key=self._pointer.key,
            )
        return named

    def verify(self, checkpoint: CheckpointId) -> VerificationResult:
        """Read everything that the manifest names and compare; content never raises.

        Raises:
            UnavailableError: the store does not answer, so nothing is known.
            PermissionDeniedError: the store refuses to be read, so nothing is known.
        """
        return verify(self._store, self._paths, checkpoint, self.load, parallel=self._parallel)

    def list(self) -> _Ids:
        """The ids of all checkpoints that have a manifest, in either form, oldest first."""
        return self._list_from("")

    def delete(self, checkpoint: CheckpointId, *, even_latest: bool = False) -> int:
        """Delete all objects of a checkpoint, manifest first, and say how many there were.

        Raises:
            MisuseError: `_latest` names it, and `even_latest` is not set.
            DeleteError: some objects are still there, by name.
        """
        if not even_latest and self.read_latest() == checkpoint:
            raise MisuseError(
                "this is the latest checkpoint",
                hint="save a newer one first, or pass even_latest=True",
                checkpoint=checkpoint,
            )
        prefix = self._paths.seed_prefix(checkpoint)
        manifests = {self._paths.manifest(checkpoint), self._paths.seed_manifest(checkpoint)}
        keys = {meta.key for meta in scan(self._store, prefix)}
        self._store.delete(sorted(keys & manifests))
        self._store.delete(sorted(keys - manifests))
        return len(keys)

    def _upload(self, upload: Upload) -> None:
        create_once(self._store, upload.key, upload.body, lambda: _taken(upload.key))

    def _newest(self) -> CheckpointId | None:
        """The highest id; the pointer only shortens the listing."""
        hint, _ = read_pointer(self._store, self._pointer)
        found = [] if hint is None else self._list_from(self._paths.seed_prefix(hint))
        return max(found or self.list(), default=None)

    def _list_from(self, start_after: str) -> _Ids:
        parsed = (
            self._paths.parse(meta.key)
            for meta in scan(self._store, self._paths.base_prefix, start_after=start_after)
        )
        return sorted({key.checkpoint for key in parsed if key is not None and key.manifest})


def _decode(body: bytes, checkpoint: CheckpointId) -> CheckpointManifestV2:
    manifest = CheckpointManifestV2.decode(body)
    if manifest.checkpoint_id != checkpoint:
        raise CorruptionError(
            "a manifest is that of another checkpoint",
            expected=checkpoint,
            found=manifest.checkpoint_id,
        )
    return manifest


def _taken(key: str) -> AlreadyExistsError:
    return AlreadyExistsError(
        "something else is stored under this checkpoint's id",
        hint="save under a new CheckpointId.now()",
        key=key,
    )
