"""`holdfast prune` and `holdfast orphans`: deleting what is not needed, if told to."""

from collections.abc import Iterator, Mapping
from typing import Annotated

import typer

from holdfast.chain.read import list_manifests
from holdfast.checkpoint import CheckpointStore, PruneReport
from holdfast.cli import exits
from holdfast.cli.border import border
from holdfast.cli.held import ref_lines
from holdfast.cli.need import need_query
from holdfast.cli.options import DRY, Debug, Json, Yes
from holdfast.cli.options import Target as TargetText
from holdfast.cli.output import Output
from holdfast.cli.target import Target, resolve
from holdfast.errors import DeleteError
from holdfast.objectstore import scan
from holdfast.report import retention
from holdfast.report.checkpoints import RefLine
from holdfast.report.retention import CleaningReport, ProtectedPart
from holdfast.report.units import ranges_text


def prune(
    target: TargetText,
    keep: Annotated[int, typer.Option("--keep", "-k", min=1, help="How many of the newest stay.")],
    yes: Yes = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Delete all but the newest valid checkpoints, and what only the deleted ones needed.

    Whatever a tag, a clone or a kept checkpoint reaches stays. A running driver is not disturbed.
    Without --yes this only says what would go.
    """
    with border(json=json, debug=debug) as output:
        _clean(need_query(resolve(target), "prune"), keep, output, yes=yes)


def orphans(target: TargetText, yes: Yes = False, json: Json = False, debug: Debug = False) -> None:
    """Delete objects that no checkpoint at all needs: what crashes left behind.

    What a running driver may still name stays; in a plain checkpoint store, whatever is younger
    than an hour. Without --yes this only says what would go.
    """
    with border(json=json, debug=debug) as output:
        _clean(need_query(resolve(target), "orphans"), None, output, yes=yes)


def _clean(found: Target, keep: int | None, output: Output, *, yes: bool) -> None:
    clean = _chain if found.format == "chain" else _plain
    with output.working("deleting" if yes else "looking for what can go"):
        report = clean(found, keep, yes=yes)
    output.show(report, retention.render, *([] if yes or report.is_empty else [DRY]))
    if report.failed:
        raise typer.Exit(exits.REFUSED)


def _chain(found: Target, keep: int | None, *, yes: bool) -> CleaningReport:
    reading = found if yes else found.read_only()[0]
    chain = reading.chain("prune")
    done = chain.sweep(dry_run=not yes) if keep is None else chain.retain(keep, dry_run=not yes)
    numbers = list(list_manifests(chain.context).numbers)
    refs = ref_lines(chain.context, numbers)
    return CleaningReport(
        store=found.store.url,
        query=found.query,
        format=found.format,
        dry_run=not yes,
        keep=keep,
        kept_from=done.kept_from,
        checkpoints=done.manifests,
        tombstones=done.tombstones,
        intents=done.intents,
        objects=done.objects,
        bytes_freed=done.bytes_freed,
        protected=tuple(_protected(numbers, refs, done.kept_from, keep)),
    )


def _protected(
    numbers: list[int], refs: list[RefLine], kept_from: int, keep: int | None
) -> Iterator[ProtectedPart]:
    """What stays although it is older than the newest `keep`."""
    asked = numbers[-keep] if keep is not None and keep <= len(numbers) else kept_from
    older = [number for number in numbers if kept_from <= number < asked]
    if older:
        reason = "the kept ones build on them, or some of those are invalid and do not count"
        yield ProtectedPart(what=f"checkpoints {ranges_text(older)}", reason=reason)
    for ref in refs:
        if ref.checkpoint is not None and ref.checkpoint < kept_from:
            reason = f"holds checkpoint {ref.checkpoint}"
            yield ProtectedPart(what=f"{ref.kind} {ref.name}", reason=reason)


def _plain(found: Target, keep: int | None, *, yes: bool) -> CleaningReport:
    """First a dry run, on a store that cannot be changed."""
    reading, notes = found.read_only()
    sizes = {meta.key: meta.size for meta in scan(notes, found.keys.checkpoints)}
    done, failed = _run(reading.checkpoints(), keep, dry_run=True)
    if yes:
        done, failed = _run(found.checkpoints(), keep, dry_run=False)
    keys = found.keys
    sidecars = [key for n in done.removed for key in (keys.state(n), keys.v1_state(n))]
    doomed = sidecars if keep is not None else notes.would_delete
    gone = [key for key in doomed if key in sizes and key not in failed]
    return CleaningReport(
        store=found.store.url,
        query=found.query,
        format=found.format,
        dry_run=not yes,
        keep=keep,
        checkpoints=done.removed,
        objects=tuple(gone),
        bytes_freed=sum(sizes[key] for key in gone),
        protected=tuple(
            ProtectedPart(what=f"checkpoint {number}", reason=why)
            for number, why in done.protected.items()
        ),
        failed=tuple(ProtectedPart(what=key, reason=why) for key, why in failed.items()),
    )


def _run(
    checkpoints: CheckpointStore, keep: int | None, *, dry_run: bool
) -> tuple[PruneReport, Mapping[str, str]]:
    """What was done, and by key what the store would not delete."""
    try:
        if keep is None:
            checkpoints.cleanup_orphans()
        else:
            checkpoints.prune(keep, dry_run=dry_run)
    except DeleteError as error:
        return checkpoints.last_prune, error.failed
    return checkpoints.last_prune, {}
