"""One checkpoint of a plain checkpoint store, for `show`; its files are its operators' states."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.checkpoint import catalog
from holdfast.cli.plain import plain_number
from holdfast.errors import CorruptionError, NotFoundError, UnavailableError
from holdfast.report.detail import (
    CheckpointDetail,
    FilePart,
    ObjectPart,
    ParentPart,
    of_manifest,
)
from holdfast.report.recovery import SkippedPart

if TYPE_CHECKING:
    from holdfast.cli.target import Target
    from holdfast.manifest import CheckpointManifest, OperatorCheckpoint


def detail(target: Target, checkpoint: str) -> CheckpointDetail:
    """Everything that its manifest says."""
    manifest, newer = _pick(target, checkpoint)
    operators = manifest.operator_states
    parent = manifest.parent_id
    size = catalog.state_size(target.store, target.keys, manifest.checkpoint_id)
    return CheckpointDetail(
        store=target.store.url,
        query=target.query,
        format=target.format,
        **{**of_manifest(manifest), "size_bytes": manifest.size_bytes or size},
        kind="checkpoint",
        batch=None,
        full=not manifest.is_incremental,
        parent=None if parent is None else ParentPart(number=parent),
        files=len(operators) or None,
        objects=_sidecar(target, manifest, size),
        notes=manifest.extra,
        newer=newer,
        file_list=tuple(
            FilePart(path=name, size_bytes=_size(state), object=_place(state))
            for name, state in sorted(operators.items())
        ),
    )


def content(target: Target, checkpoint: str, path: str) -> tuple[int, bytes]:
    """The checkpoint's number, and an operator's state."""
    manifest, _ = _pick(target, checkpoint)
    number, state = manifest.checkpoint_id, manifest.operator_states.get(path)
    if state is None:
        raise NotFoundError(
            "there is no such operator in this checkpoint",
            hint="--files lists them",
            checkpoint=number,
            operator=path,
        )
    if not state.external:
        return number, state.decode_inline() or b""
    sidecar = catalog.load_state(target.store, target.keys, number)
    end = state.external_offset + state.external_length
    if sidecar is None or end > len(sidecar):
        raise CorruptionError("the sidecar does not hold this state", checkpoint=number)
    return number, sidecar[state.external_offset : end]


def _pick(target: Target, checkpoint: str) -> tuple[CheckpointManifest, tuple[SkippedPart, ...]]:
    """The checkpoint that was asked for, or the newest valid one and what is newer."""
    skipped: list[tuple[int, str]] = []
    number: int | None
    if checkpoint:
        number = plain_number(target, checkpoint)
    else:
        report = target.checkpoints().recover_latest_validated()
        number, skipped = report.chosen_id, report.skipped
    manifest = None if number is None else target.checkpoints().load_by_id(number)
    if manifest is None:
        raise UnavailableError("checkpoints vanish while they are read", hint="try again")
    return manifest, tuple(SkippedPart(number=found, reason=why) for found, why in skipped)


def _sidecar(
    target: Target, manifest: CheckpointManifest, size: int | None
) -> tuple[ObjectPart, ...]:
    number = manifest.checkpoint_id
    inside = sum(1 for state in manifest.operator_states.values() if state.external)
    if size is None:
        return ()
    is_flat = number in catalog.list_v1_ids(target.store, target.keys)
    key = target.keys.v1_state(number) if is_flat else target.keys.state(number)
    return (
        ObjectPart(
            kind="sidecar",
            key=key,
            size_bytes=size,
            sha256=manifest.state_checksum or "",
            files=inside,
        ),
    )


def _size(state: OperatorCheckpoint) -> int:
    return state.external_length if state.external else len(state.state_b64 or "") * 3 // 4


def _place(state: OperatorCheckpoint) -> str:
    return f"sidecar at {state.external_offset}" if state.external else "inline"
