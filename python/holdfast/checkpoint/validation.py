"""Whether a checkpoint can be recovered: its manifest, its sidecar, and those of its parents."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from holdfast.checkpoint.catalog import load_manifest, load_state, state_size
from holdfast.errors import CorruptionError, PermissionDeniedError, StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from holdfast.layout import Keys
    from holdfast.manifest import CheckpointManifest
    from holdfast.objectstore import ObjectStore


class Severity(Enum):
    """Whether a checkpoint with this issue can still be used."""

    WARNING = "warning"
    FATAL = "fatal"


@dataclass(frozen=True, slots=True)
class Issue:
    """One thing that is wrong with a checkpoint."""

    severity: Severity
    message: str

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationResult:
    """What validation found, in the order in which it looked."""

    checkpoint_id: int
    issues: tuple[Issue, ...] = ()

    @property
    def valid(self) -> bool:
        """Whether it can be recovered; warnings do not matter."""
        return not any(issue.severity is Severity.FATAL for issue in self.issues)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspection:
    """One checkpoint looked at by itself; `parent` is what it cannot be recovered without."""

    issues: tuple[Issue, ...] = ()
    parent: int | None = None
    gone: bool = False


def validate(number: int, inspect: Callable[[int], Inspection]) -> ValidationResult:
    """The checkpoint's own issues, and the fatal ones of those that it builds on."""
    own = inspect(number)
    issues = list(own.issues)
    child, parent = number, own.parent
    while parent is not None:
        if parent >= child:
            issues.append(_fatal(f"parent {parent} of checkpoint {child} does not precede it"))
            break
        found = inspect(parent)
        issues += (
            _fatal(f"parent {parent}: {issue}")
            for issue in found.issues
            if issue.severity is Severity.FATAL
        )
        child, parent = parent, found.parent
    return ValidationResult(checkpoint_id=number, issues=tuple(issues))


def inspect(store: ObjectStore, keys: Keys, number: int) -> Inspection:
    """Read all of one checkpoint.

    Whatever is wrong with its objects is an issue. A store that does not answer, or that refuses
    the credentials, says nothing about the checkpoint, so that is raised.
    """
    try:
        stored = load_manifest(store, keys, number)
        if stored is None:
            missing = _fatal(f"manifest not found for checkpoint {number}")
            return Inspection(issues=(missing,), gone=True)
        manifest = stored.manifest
        issues = (*_manifest_issues(manifest), *_sidecar_issues(store, keys, manifest))
    except PermissionDeniedError:
        raise
    except CorruptionError as error:
        return Inspection(issues=(_fatal(f"corrupt manifest: {error}"),))
    except StoreError as error:
        return Inspection(issues=(_fatal(f"unreadable: {error}"),))
    return Inspection(issues=issues, parent=manifest.parent_id if manifest.is_incremental else None)


def _manifest_issues(manifest: CheckpointManifest) -> Iterator[Issue]:
    for error in manifest.validate():
        yield _warning(f"manifest validation: {error}")
    if 0 in (manifest.epoch, manifest.checkpoint_id):
        yield _fatal("epoch or checkpoint_id is 0, likely corrupted")
    for name, state in manifest.operator_states.items():
        yield from _decoding_issues(f"operator '{name}'", state.decode_inline)
    for name, records in manifest.inflight_data.items():
        for record in records:
            yield from _decoding_issues(f"in-flight data of '{name}'", record.decode)


def _decoding_issues(what: str, decode: Callable[[], object]) -> Iterator[Issue]:
    try:
        decode()
    except CorruptionError as error:
        yield _fatal(f"{what}: {error}")


def _sidecar_issues(
    store: ObjectStore, keys: Keys, manifest: CheckpointManifest
) -> Iterator[Issue]:
    number, expected = manifest.checkpoint_id, manifest.state_checksum
    external = {name: op for name, op in manifest.operator_states.items() if op.external}
    if expected is None and not external:
        return
    if expected is None:
        yield _warning("operators have external state, but there is no checksum of the sidecar")
        size = state_size(store, keys, number)
    else:
        data = load_state(store, keys, number)
        size = None if data is None else len(data)
        actual = expected if data is None else hashlib.sha256(data).hexdigest()
        if actual != expected:
            yield _fatal(f"sidecar checksum mismatch: expected {expected}, got {actual}")
    if size is None:
        yield _fatal("the sidecar that the manifest needs is not there")
        return
    for name, state in external.items():
        if state.external_offset + state.external_length > size:
            yield _fatal(f"operator '{name}' lies outside the sidecar of {size} bytes")


def _fatal(message: str) -> Issue:
    return Issue(Severity.FATAL, message)


def _warning(message: str) -> Issue:
    return Issue(Severity.WARNING, message)
