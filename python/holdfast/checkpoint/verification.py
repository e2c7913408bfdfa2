"""Whether everything that a distributed checkpoint's manifest names is there, and right."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from holdfast.checkpoint.catalog import find
from holdfast.checkpoint.partitions import source_offset_bytes
from holdfast.checkpoint.validation import Issue, Severity
from holdfast.errors import (
    ConfigError,
    CorruptionError,
    NotFoundError,
    PermissionDeniedError,
    StoreError,
)
from holdfast.objectstore.parallel import gather

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.ids import CheckpointId
    from holdfast.layout import CheckpointPaths
    from holdfast.manifest import CheckpointManifestV2, PartitionSnapshotEntry
    from holdfast.objectstore import ObjectStore


@dataclass(frozen=True, slots=True, kw_only=True)
class VerificationResult:
    """What verification found, in the order of the manifest."""

    checkpoint_id: CheckpointId
    issues: tuple[Issue, ...] = ()

    @property
    def valid(self) -> bool:
        """Whether it can be restored; warnings do not matter."""
        return not any(issue.severity is Severity.FATAL for issue in self.issues)


def verify(
    store: ObjectStore,
    paths: CheckpointPaths,
    checkpoint: CheckpointId,
    load: Callable[[CheckpointId], CheckpointManifestV2],
    *,
    parallel: int,
) -> VerificationResult:
    """Read the manifest and all that it names; `parallel` objects are in memory at a time."""
    try:
        manifest = load(checkpoint)
    except PermissionDeniedError:
        raise
    except (CorruptionError, StoreError) as error:
        issue = Issue(Severity.FATAL, f"manifest: {error}")
        return VerificationResult(checkpoint_id=checkpoint, issues=(issue,))
    entries = [entry for item in manifest.operators.values() for entry in item.partitions]
    checks = [
        *(partial(_check_artifact, store, paths, checkpoint, entry) for entry in entries),
        *(partial(_check_source, store, paths, manifest, name) for name in manifest.source_offsets),
    ]
    found = gather(_issue, checks, parallel=parallel)
    issues = tuple(issue for issue in found if issue is not None)
    return VerificationResult(checkpoint_id=checkpoint, issues=issues)


def read_artifact(
    store: ObjectStore,
    paths: CheckpointPaths,
    checkpoint: CheckpointId,
    entry: PartitionSnapshotEntry,
) -> bytes:
    """The bytes that an entry names, if they are those that were saved.

    Raises:
        CorruptionError: they are gone, or of another size or hash.
    """
    try:
        blob = store.get(paths.artifact(checkpoint, entry.path), length=entry.size_bytes)
    except (ConfigError, NotFoundError) as error:  # no store can hold a key with `..` in it
        raise CorruptionError("an artifact is not there", path=entry.path) from error
    if blob.meta.size != entry.size_bytes:
        raise CorruptionError(
            "an artifact has another size",
            path=entry.path,
            expected=entry.size_bytes,
            found=blob.meta.size,
        )
    if entry.sha256 is not None and hashlib.sha256(blob.body).hexdigest() != entry.sha256:
        raise CorruptionError(
            "an artifact has another hash", path=entry.path, expected=entry.sha256
        )
    return blob.body


def _issue(check: Callable[[], str]) -> Issue | None:
    """What a check found: it raises what is fatal, and gives the text of a warning."""
    try:
        warning = check()
    except PermissionDeniedError:
        raise
    except (CorruptionError, StoreError) as error:
        return Issue(Severity.FATAL, str(error))
    return Issue(Severity.WARNING, warning) if warning else None


def _check_artifact(
    store: ObjectStore,
    paths: CheckpointPaths,
    checkpoint: CheckpointId,
    entry: PartitionSnapshotEntry,
) -> str:
    read_artifact(store, paths, checkpoint, entry)
    return "" if entry.sha256 else f"{entry.path} has no hash to compare with"


def _check_source(
    store: ObjectStore, paths: CheckpointPaths, manifest: CheckpointManifestV2, name: str
) -> str:
    """The manifest decides, so a missing copy is a warning; one that differs is a contradiction."""
    try:
        blob = find(store, paths.source_offset(manifest.checkpoint_id, name))
    except ConfigError:  # the seed takes names that no key of ours can hold
        blob = None
    if blob is None:
        return f"source '{name}' has no object of its own"
    if blob.body != source_offset_bytes(manifest.source_offsets[name]):
        raise CorruptionError("a source's object contradicts the manifest", source=name)
    return ""
