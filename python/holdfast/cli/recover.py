"""`holdfast recover`: what a start would take now, and why nothing newer; changes nothing."""

from collections.abc import Iterable
from typing import Annotated

import typer

from holdfast.chain.claim import adopted
from holdfast.chain.history import missing
from holdfast.chain.read import Reader
from holdfast.cli import exits
from holdfast.cli.border import border
from holdfast.cli.need import need_query
from holdfast.cli.options import Debug, Json
from holdfast.cli.options import Target as TargetText
from holdfast.cli.target import Target, resolve
from holdfast.errors import NotFoundError, UnavailableError
from holdfast.report import recovery
from holdfast.report.checkpoints import known_batch
from holdfast.report.documents import WriterPart
from holdfast.report.recovery import PlanPart, RecoveryDocument, SkippedPart
from holdfast.report.units import iso_utc


def recover(
    target: TargetText,
    deep: Annotated[bool, typer.Option("--deep", help="Read and compare every object.")] = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Show what a start would take, why each newer checkpoint would not do, and the plan.

    A dry look: nothing is claimed or changed. Exit code 1 if a newer checkpoint is invalid.
    """
    with border(json=json, debug=debug) as output:
        found = need_query(resolve(target).read_only()[0], "recover")
        with output.working("walking back from the newest checkpoint"):
            document = _chain(found, deep=deep) if found.format == "chain" else _plain(found)
        output.show(document, recovery.render)
        if document.skipped:
            raise typer.Exit(exits.INVALID)


def _chain(found: Target, *, deep: bool) -> RecoveryDocument:
    chain = found.chain("recover")
    recovered = chain.recover(deep=deep)
    plans = adopted(chain.context, recovered)
    head, report = recovered.head, recovered.report
    gone = sorted(missing(chain.context).items(), reverse=True)
    if head.is_unused and report.chosen is not None:
        raise NotFoundError(
            "this query was removed",
            hint="the next start begins at batch 0",
            query=found.query,
            removed_at=head.number,
        )
    if report.chosen is None:
        raise NotFoundError(
            "this query has no checkpoint yet",
            hint="a start was cut short before its first one; the next start begins at batch 0",
            query=found.query,
        )
    entry = Reader(chain.context).manifest(report.chosen)
    return RecoveryDocument(
        store=found.store.url,
        query=found.query,
        format=found.format,
        deep=deep,
        chosen=report.chosen,
        highest=report.highest,
        kind=head.kind.value,
        batch=known_batch(head.batch),
        epoch=entry.manifest.epoch,
        next_batch=head.next_batch,
        time_ms=head.timestamp_ms,
        time=iso_utc(head.timestamp_ms),
        files=len(head.files),
        size_bytes=head.size_bytes,
        writer=WriterPart.of(entry.record.writer),
        skipped=_skipped([*gone, *report.skipped]),
        plans=PlanPart.all_of(plans, head.next_batch),
        examined=report.examined,
        elapsed_s=report.elapsed_s,
    )


def _plain(found: Target) -> RecoveryDocument:
    """A plain store's recovery always reads everything."""
    checkpoints = found.checkpoints()
    report = checkpoints.recover_latest_validated()
    chosen = report.chosen_id
    manifest = None if chosen is None else checkpoints.load_by_id(chosen)
    if manifest is None:
        raise UnavailableError("checkpoints vanish while they are read", hint="try again")
    return RecoveryDocument(
        store=found.store.url,
        query=found.query,
        format=found.format,
        deep=True,
        chosen=chosen,
        highest=max((number for number, _ in report.skipped), default=chosen),
        kind="checkpoint",
        epoch=manifest.epoch,
        time_ms=manifest.timestamp_ms,
        time=iso_utc(manifest.timestamp_ms),
        size_bytes=manifest.size_bytes,
        skipped=_skipped(report.skipped),
        examined=report.examined,
        elapsed_s=report.elapsed.total_seconds(),
    )


def _skipped(pairs: Iterable[tuple[int, str]]) -> tuple[SkippedPart, ...]:
    return tuple(SkippedPart(number=number, reason=reason) for number, reason in pairs)
