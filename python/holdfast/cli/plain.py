"""Plain checkpoint stores, such as the seed system's own crate writes: what is in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.checkpoint import catalog
from holdfast.cli.need import checkpoint_or_tag
from holdfast.errors import ConfigError, CorruptionError, NotFoundError
from holdfast.objectstore.parallel import gather
from holdfast.report.checkpoints import CheckpointLine
from holdfast.report.queries import QueryLine
from holdfast.report.units import iso_utc

if TYPE_CHECKING:
    from holdfast.cli.target import Target
    from holdfast.manifest import CheckpointManifest

_PARALLEL = 16


def plain_lines(target: Target, limit: int | None) -> tuple[int, list[CheckpointLine]]:
    """How many there are, and the newest of them, newest first."""
    ids = catalog.list_ids(target.store, target.keys)
    wanted = ids[-limit:] if limit else ids
    found = gather(lambda number: checkpoint_line(target, number), wanted, parallel=_PARALLEL)
    return len(ids), found[::-1]


def plain_line(target: Target) -> QueryLine:
    """One line for the whole store."""
    count, lines = plain_lines(target, 1)
    newest = lines[0]
    return QueryLine(
        query=target.query,
        format=target.format,
        state="broken" if newest.problem else "ok",
        problem=newest.problem and f"checkpoint {newest.number}: {newest.problem}",
        checkpoint=newest.number,
        kind=newest.kind,
        epoch=newest.epoch,
        time_ms=newest.time_ms,
        time=newest.time,
        size_bytes=newest.size_bytes,
        manifests=count,
    )


def checkpoint_line(target: Target, number: int) -> CheckpointLine:
    """A checkpoint by its manifest; its sidecar is looked up and not read."""
    try:
        stored = catalog.load_manifest(target.store, target.keys, number)
    except CorruptionError as error:
        return CheckpointLine(number=number, problem=str(error))
    if stored is None:
        return CheckpointLine(number=number, problem="it is gone since it was listed")
    manifest = stored.manifest
    sidecar = catalog.state_size(target.store, target.keys, number)
    return CheckpointLine(
        number=number,
        kind="checkpoint",
        epoch=manifest.epoch,
        time_ms=manifest.timestamp_ms,
        time=iso_utc(manifest.timestamp_ms),
        full=not manifest.is_incremental,
        parent=manifest.parent_id,
        size_bytes=manifest.size_bytes or sidecar,
        manifest_bytes=stored.meta.size,
        problem=_problem(manifest, sidecar),
    )


def plain_number(target: Target, text: str) -> int:
    """The checkpoint that was asked for.

    Raises:
        ConfigError: it is no number; there are no tags here.
        NotFoundError: there is no such checkpoint.
    """
    number = checkpoint_or_tag(text)
    if isinstance(number, str):
        raise ConfigError("a plain checkpoint store has no tags", hint="give a number", tag=number)
    ids = catalog.list_ids(target.store, target.keys)
    if number not in ids:
        raise NotFoundError(
            "there is no such checkpoint",
            hint=f"there are {min(ids)} to {max(ids)}",
            checkpoint=number,
        )
    return number


def _problem(manifest: CheckpointManifest, sidecar: int | None) -> str:
    """What is surely wrong, as far as a look can tell."""
    if 0 in (manifest.epoch, manifest.checkpoint_id):
        return "epoch or checkpoint_id is 0"
    needs = manifest.state_checksum or any(op.external for op in manifest.operator_states.values())
    return "the sidecar that the manifest needs is not there" if needs and sidecar is None else ""
