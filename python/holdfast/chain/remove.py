"""Removing a query: a claim with no files, which fences whoever runs it, then all before it.

The claim's manifest has the kind `removed`: there is no query any more, and its number stays taken.
A later query of the same name counts on from it, in a new incarnation. Numbers of earlier claims
stay taken as well, so that a driver that is asleep since one of them is fenced when it wakes up.

Order: claim, remove tags, retire manifests, list clones, delete objects, release what other queries
hold for this one. Whoever clones puts a ref before it lists manifests and tags again, so one of the
two sees the other. Only what is older than the claim is deleted: a driver that was started again
meanwhile runs a new query.

Failure: killed after the claim → a removed query, and garbage that a second removal finds.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from holdfast.chain import rules
from holdfast.chain.claim import claim
from holdfast.chain.foreign import (
    is_held,
    of_query,
    read_holds,
    release,
    release_hold,
    roots_named,
)
from holdfast.chain.head import Head
from holdfast.chain.hint import read_hint
from holdfast.chain.read import list_intents, list_manifests
from holdfast.chain.recover import go_on_from
from holdfast.chain.refs import list_refs, read_ref, remove_tag
from holdfast.chain.retain import Retainer
from holdfast.chain.summary import Summaries
from holdfast.errors import CorruptionError, MisuseError, NotFoundError, UnavailableError
from holdfast.layout import Kind as KeyKind
from holdfast.manifest.record import Kind

if TYPE_CHECKING:
    from holdfast.chain.context import Context
    from holdfast.chain.read import Listing


def remove(context: Context, *, purge: bool = False) -> int:
    """Delete the query and return the number of its fence, from which a next one counts on.

    The tombstones of earlier claims stay; `purge` deletes these too, for a query that no driver can
    be running, not even one that is asleep. The fence itself always stays.

    Raises:
        MisuseError: a clone names its objects; where it was made meanwhile, they are kept for it.
        UnavailableError: another retention ran at the same time, so objects stay: remove it again.
    """
    require_no_clones(context)
    listing = list_manifests(context)
    origins = _origins(context, listing)
    nothing = partial(go_on_from, Head())
    fence = claim(context, read=nothing, new_lineage=True, kind=Kind.REMOVED).head.number
    _remove_tags(context, fence)
    report = Retainer(context).remove_below(fence)
    for hold in read_holds(context):
        if hold.number <= fence:
            release_hold(context, hold)
    release(context, "", origins)
    require_no_clones(context)
    if not report.is_complete:
        raise UnavailableError(
            "the query is removed, but some objects stay: another process was deleting, too",
            hint="run `holdfast rm` again",
            query=context.query,
        )
    if purge:
        _purge(context, listing.highest)
    return fence


def _remove_tags(context: Context, fence: int) -> None:
    """Tags of checkpoints before the fence; those that cannot be read go with them."""
    for key, parsed in list_refs(context).live.items():
        if parsed.kind is KeyKind.TAG:
            with suppress(NotFoundError):
                if rules.is_before(_tagged(context, key), fence):
                    remove_tag(context, key)


def _tagged(context: Context, key: str) -> int:
    try:
        return read_ref(context, key).entry.number
    except CorruptionError:
        return 0


def _origins(context: Context, listing: Listing) -> set[str]:
    """Roots at which a clone that was made before incarnations holds refs."""
    summaries = Summaries(context).of(listing).values()
    named = (ref for summary in summaries for ref in summary.named)
    parents = {summary.parent.query for summary in summaries if summary.parent is not None}
    return {
        *roots_named(named),
        *(of_query(context, parent).keys.root for parent in parents if parent),
    }


def _purge(context: Context, last: int) -> None:
    """Delete the tombstones and intents that were there when the removal began, and the hint.

    A driver that was started since may be asleep, and the fence of its claim stays.
    """
    keys = context.keys
    manifests = (n for n in list_manifests(context).numbers if n <= last)
    intents = (n for n in list_intents(context) if n <= last + 1)
    doomed = [*map(keys.manifest, manifests), *map(keys.intent, intents)]
    if read_hint(context) <= last:
        doomed.append(keys.latest)
    context.store.delete(doomed)


def require_no_clones(context: Context) -> None:
    """Nothing, unless a clone needs this query; only reads.

    Raises:
        MisuseError: a clone still names its objects.
    """
    refs = (found for found in list_refs(context).live.values() if found.kind is KeyKind.CLONE)
    clones = sorted({ref.name for ref in refs if is_held(context, ref.name, ref.incarnation)})
    if clones:
        raise MisuseError(
            "clones of this query still use its objects",
            hint=f"remove the clones first: `holdfast rm {clones[0]}`",
            query=context.query,
            clones=", ".join(clones),
        )
