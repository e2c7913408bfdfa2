"""`holdfast ls`: the queries of a store, or the checkpoints of a query."""

from typing import Annotated

import typer

from holdfast.cli.border import border
from holdfast.cli.discover import survey
from holdfast.cli.lines import chain_checkpoints, plain_checkpoints, store_listing
from holdfast.cli.need import need_query
from holdfast.cli.options import Debug, Json, StoreTarget
from holdfast.cli.output import Output
from holdfast.cli.target import Target, resolve
from holdfast.report import checkpoints, queries

_LIMIT = 20


def ls(
    target: StoreTarget = "",
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, help="How many checkpoints, the newest first.")
    ] = _LIMIT,
    everything: Annotated[bool, typer.Option("--all", "-a", help="All checkpoints.")] = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """List the queries of a store, or the checkpoints of a query.

    A query's state comes of its manifests: "ok" says that the newest checkpoint reads back to its
    last full one, not that its objects are whole. `validate` reads everything.
    """
    with border(json=json, debug=debug) as output:
        found, _ = resolve(target).read_only()
        if found.format != "none" or not _store(found, output):
            _query(need_query(found, "ls"), None if everything else limit, output)


def _store(found: Target, output: Output) -> bool:
    """Show the queries of a store or of a folder in it, if there is anything to show."""
    with output.working("listing"):
        below = survey(found.store, found.prefix)
    with output.working(f"reading {len(below.roots)} queries"):
        listing = store_listing(found.store, below)
    is_store = listing.certificate is not None and not found.query
    if not (listing.queries or listing.stores or is_store):
        return False
    output.show(listing, queries.render)
    return True


def _query(found: Target, limit: int | None, output: Output) -> None:
    with output.working("reading manifests"):
        read = chain_checkpoints if found.format == "chain" else plain_checkpoints
        listing = read(found, limit)
    output.show(listing, checkpoints.render)
