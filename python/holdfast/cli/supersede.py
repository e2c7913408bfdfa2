"""`holdfast rollback` and `holdfast rm`: both take the query over, and fence whoever runs it."""

from dataclasses import replace
from typing import Annotated

import typer

from holdfast.chain import Chain
from holdfast.chain.history import Validator
from holdfast.chain.objects import needed
from holdfast.chain.remove import require_no_clones
from holdfast.cli.border import border
from holdfast.cli.discover import roots
from holdfast.cli.fence import fence_of, newest_readable
from holdfast.cli.held import ref_lines
from holdfast.cli.need import need_chain
from holdfast.cli.options import DRY, Debug, Json, Shallow, Yes
from holdfast.cli.options import Target as TargetText
from holdfast.cli.output import Output
from holdfast.cli.pick import Picked, pick, read_tag
from holdfast.cli.target import Target, resolve
from holdfast.errors import CorruptionError
from holdfast.layout import query_of_path
from holdfast.objectstore import scan
from holdfast.report import changes
from holdfast.report.changes import RemovalReport, RollbackReport
from holdfast.report.checkpoints import known_batch
from holdfast.report.units import iso_utc


def rollback(
    target: TargetText,
    to: Annotated[str, typer.Option("--to", metavar="N|TAG", help="Which checkpoint to go to.")],
    shallow: Shallow = False,
    yes: Yes = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Go back to a checkpoint or a tag; the next start runs the batches after it again.

    The checkpoint is read and compared first. History stays: the rollback is one more checkpoint
    at its end. A running driver is fenced. Without --yes this only says what would happen.
    """
    with border(json=json, debug=debug) as output:
        found = need_chain(resolve(target), "rollback")
        report = _plan_rollback(found.read_only()[0], to, output, deep=not shallow)
        if yes:
            with output.working("rolling back"):
                done = found.chain("rollback").rollback(report.tag or report.target)
            report = replace(report, dry_run=False, number=done.number, repaired=done.repaired)
        output.show(report, changes.render_rollback, *([] if yes else [DRY]))


def rm(
    target: TargetText,
    purge: Annotated[
        bool,
        typer.Option("--purge", help="Delete also what stops a driver that is only asleep."),
    ] = False,
    yes: Yes = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Delete a query with all its checkpoints and tags; a running driver is fenced.

    A small object per claim stays, so that a driver that is only asleep is fenced when it wakes up;
    with --purge only the last one stays. The name can be used again. Other queries below the same
    name stay. Without --yes this only says what would be deleted.
    """
    with border(json=json, debug=debug) as output:
        found = need_chain(resolve(target), "rm")
        with output.working("listing"):
            report = _plan_removal(found.read_only()[0], purge=purge)
        if yes:
            with output.working("deleting"):
                found.chain("rm").remove(purge=purge)
            report = replace(report, dry_run=False)
        output.show(report, changes.render_removal, *([] if yes else [DRY]))


def _plan_rollback(found: Target, to: str, output: Output, *, deep: bool) -> RollbackReport:
    chain = found.chain("rollback")
    picked = pick(chain, to)
    _require_valid(chain, picked, output, deep=deep)
    newest = newest_readable(chain.context)
    head, time_ms = picked.head, picked.entry.manifest.timestamp_ms
    return RollbackReport(
        store=found.store.url,
        query=found.query,
        dry_run=True,
        target=head.number,
        tag=picked.tag,
        batch=known_batch(head.batch),
        next_batch=head.next_batch,
        time_ms=time_ms,
        time=iso_utc(time_ms),
        files=len(head.files),
        size_bytes=head.size_bytes,
        newest=None if newest is None else newest.number,
        undone_to=None if newest is None else known_batch(newest.record.batch),
        fences=fence_of(chain.context, newest),
    )


def _require_valid(chain: Chain, picked: Picked, output: Output, *, deep: bool) -> None:
    """Going back to what cannot be read would only make things worse.

    Raises:
        CorruptionError: it is not whole.
    """
    validator = Validator(chain.context, deep=deep)
    total = sum(ref.size for ref in needed(picked.head)) if deep else 0
    with output.progress(f"checking {picked.head.number}", total) as progress:
        found = (
            validator.check_ref(read_tag(chain, picked.tag), progress)
            if picked.tag
            else validator.check(picked.head.number, progress)
        )
    if not found.valid:
        raise CorruptionError(
            "this checkpoint is not whole, so there is no going back to it",
            hint="`holdfast validate` shows which ones are",
            checkpoint=picked.head.number,
            reason=found.issues[0],
        )


def _plan_removal(found: Target, *, purge: bool) -> RemovalReport:
    chain = found.chain("rm")
    require_no_clones(chain.context)
    sizes = [
        meta.size
        for meta in scan(found.store, found.prefix)
        if found.keys.parse(meta.key) is not None
    ]
    nested = [root for root in roots(found.store, found.prefix) if root != found.prefix]
    return RemovalReport(
        store=found.store.url,
        query=found.query,
        dry_run=True,
        purge=purge,
        objects=len(sizes),
        bytes_freed=sum(sizes),
        tags=tuple(ref.name for ref in ref_lines(chain.context)),
        nested=tuple(query_of_path(root) for root in nested),
        fences=fence_of(chain.context, newest_readable(chain.context)),
    )
