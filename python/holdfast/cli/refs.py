"""`holdfast tag` and `holdfast clone`: holding a checkpoint under a name, or going on from it."""

from typing import Annotated

import typer

from holdfast.chain import Chain
from holdfast.chain.read import list_manifests
from holdfast.cli.border import border
from holdfast.cli.need import need_chain
from holdfast.cli.options import DRY, Checkpoint, Debug, Json, Yes
from holdfast.cli.options import Target as TargetText
from holdfast.cli.output import Output
from holdfast.cli.pick import pick, read_tag
from holdfast.cli.target import resolve
from holdfast.errors import ConfigError
from holdfast.report import changes
from holdfast.report.changes import CloneReport, TagReport
from holdfast.report.checkpoints import known_batch
from holdfast.report.units import iso_utc


def tag(
    target: TargetText,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The tag's name.")],
    checkpoint: Checkpoint = "",
    delete: Annotated[bool, typer.Option("--delete", "-d", help="Delete the tag.")] = False,
    yes: Yes = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Hold a checkpoint under a name: no prune deletes it, and rollback and clone take the name.

    With --delete the tag goes; without --yes that only says what it holds.
    """
    with border(json=json, debug=debug) as output:
        chain = need_chain(resolve(target), "tag").chain("tag")
        if delete:
            _delete(chain, name, output, yes=yes)
        else:
            _create(chain, name, checkpoint, output)


def clone(
    target: TargetText,
    new_query: Annotated[str, typer.Argument(metavar="NEW_QUERY", help="The clone's name.")],
    checkpoint: Checkpoint = "",
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Begin a new query with the state of this one, in the same store, copying nothing.

    The original keeps what the clone needs for as long as the clone needs it.
    """
    with border(json=json, debug=debug) as output:
        if "://" in new_query:
            raise ConfigError(
                "a clone lives in the same store", hint="give its name only", clone=new_query
            )
        chain = need_chain(resolve(target), "clone").chain("clone")
        with output.working("cloning"):
            picked = pick(chain, checkpoint)
            begun = chain.clone(picked.target, new_query)
        head = picked.head
        report = CloneReport(
            store=chain.context.store.url,
            query=chain.context.query,
            clone=begun.context.query,
            checkpoint=head.number,
            batch=known_batch(head.batch),
            next_batch=head.next_batch,
            files=len(head.files),
            size_bytes=head.size_bytes,
        )
        output.show(report, changes.render_clone)


def _create(chain: Chain, name: str, checkpoint: str, output: Output) -> None:
    if name.isdigit():
        raise ConfigError(
            "a tag's name is not a number: that would be a checkpoint",
            hint=f'for instance "v{name}"; which checkpoint it holds is told by --checkpoint',
            name=name,
        )
    with output.working("tagging"):
        chain.tag(name, pick(chain, checkpoint).target)
    output.show(_report(chain, name, deleted=False, dry_run=False), changes.render_tag)


def _delete(chain: Chain, name: str, output: Output, *, yes: bool) -> None:
    report = _report(chain, name, deleted=True, dry_run=not yes)
    if yes:
        chain.untag(name)
    output.show(report, changes.render_tag, *([] if yes else [DRY]))


def _report(chain: Chain, name: str, *, deleted: bool, dry_run: bool) -> TagReport:
    entry = read_tag(chain, name).entry
    return TagReport(
        store=chain.context.store.url,
        query=chain.context.query,
        dry_run=dry_run,
        deleted=deleted,
        name=name,
        checkpoint=entry.number,
        batch=known_batch(entry.record.batch),
        time_ms=entry.manifest.timestamp_ms,
        time=iso_utc(entry.manifest.timestamp_ms),
        retired=entry.number not in list_manifests(chain.context).numbers,
    )
