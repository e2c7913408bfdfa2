"""`holdfast import` and `holdfast export`: a Spark checkpoint becomes a query, or the reverse."""

import re
from typing import Annotated

import typer

from holdfast.chain import Chain
from holdfast.chain.claim import adopted
from holdfast.cli.border import border
from holdfast.cli.need import need_chain, need_new
from holdfast.cli.options import Checkpoint, Debug, Json
from holdfast.cli.options import Target as TargetText
from holdfast.cli.pick import Picked, pick
from holdfast.cli.target import resolve
from holdfast.errors import ConfigError
from holdfast.ids import random_nonce
from holdfast.moving.address import parse_address
from holdfast.moving.destination import open_destination
from holdfast.moving.exporting import carry_out, files_of
from holdfast.moving.importing import bring
from holdfast.moving.origin import open_origin
from holdfast.moving.stock import survey
from holdfast.objectstore import ensure_certified
from holdfast.report import moves
from holdfast.report.checkpoints import known_batch
from holdfast.report.moves import ExportReport, ImportReport
from holdfast.sparkfiles.locations import holdfast_location

_STORE_NAME = re.compile(r"[a-z0-9-]*")


def import_(
    checkpoint: Annotated[
        str,
        typer.Argument(
            metavar="CHECKPOINT", help="What Spark wrote: a path, file:///path, s3://bucket/prefix."
        ),
    ],
    target: TargetText,
    store_name: Annotated[
        str,
        typer.Option(
            "--store-name",
            metavar="NAME",
            help="The job will say holdfast://NAME/query, not holdfast:///query.",
        ),
    ] = "",
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Begin a query with a checkpoint that Spark wrote itself, on local disk or S3.

    Stop the query first; the checkpoint is only read. The batch after the last committed one comes
    next, with the offsets that were planned for it if it had begun. A checkpoint that is not whole
    is refused, with the reason.
    """
    with border(json=json, debug=debug) as output:
        if not _STORE_NAME.fullmatch(store_name):
            raise ConfigError(
                "a store's name is lowercase letters, digits and dashes", store_name=store_name
            )
        origin = open_origin(parse_address(checkpoint))
        found = need_new(resolve(target))
        with output.working("looking at the checkpoint"):
            stock = survey(origin)
            ensure_certified(found.store)
        location = holdfast_location(found.query, store=store_name)
        with output.progress(f"importing {found.query}", stock.size_bytes) as progress:
            chain = found.chain("import")
            done = bring(chain, origin, stock, location=location, progress=progress)
        report = ImportReport(
            store=found.store.url,
            query=found.query,
            origin=origin.shown,
            location=location,
            query_id=stock.query_id,
            checkpoint=done.number,
            batch=known_batch(stock.batch),
            next_batch=stock.batch + 1,
            planned=stock.batch + 1 if stock.plan else None,
            files=done.files,
            size_bytes=done.size_bytes,
            objects=done.objects,
            left_behind=stock.left,
            unfinished=stock.beyond,
        )
        output.show(report, moves.render_import)


def export(
    target: TargetText,
    destination: Annotated[
        str,
        typer.Argument(
            metavar="DESTINATION", help="Where to: a path, file:///path, s3://bucket/prefix."
        ),
    ],
    checkpoint: Checkpoint = "",
    location: Annotated[
        str,
        typer.Option(
            "--location",
            metavar="URL",
            help="The checkpointLocation that the job will have, if it is not file: or s3a:.",
        ),
    ] = "",
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Write a checkpoint as a directory from which Spark goes on by itself, on local disk or S3.

    Stop the query first. The destination must not exist or be empty, and is no checkpoint until
    all of it is there. With --checkpoint, a batch that was begun after it is left out.
    """
    with border(json=json, debug=debug) as output:
        address = parse_address(destination)
        found = need_chain(resolve(target), "export").read_only()[0]
        chain = found.chain("export")
        with output.working("reading"):
            picked = _with_plan(chain, pick(chain, checkpoint))
            size = sum(file.size for file in files_of(picked.head, found.query))
        place = location or address.location
        with output.progress(f"exporting {found.query}", size) as progress:
            into = open_destination(address, random_nonce)
            done = carry_out(chain, picked.head, into, location=place, progress=progress)
        head = picked.head
        report = ExportReport(
            store=found.store.url,
            query=found.query,
            destination=address.shown,
            location=place,
            checkpoint=head.number,
            tag=picked.tag,
            batch=known_batch(head.batch),
            next_batch=head.next_batch,
            planned=head.next_batch if head.shown_plan else None,
            files=done.files,
            size_bytes=done.size_bytes,
        )
        output.show(report, moves.render_export)


def _with_plan(chain: Chain, picked: Picked) -> Picked:
    """What a start would take, it would run with the plans of batches that were begun.

    Raises:
        CorruptionError: the plan of a batch that may have run cannot be read.
    """
    plans = adopted(chain.context, picked.recovery) if picked.recovery else ()
    picked.head.plans = {plan.batch: plan for plan in plans}
    return picked
