"""Removing a query: a claim with no files, which fences whoever runs it, then all the rest.

Order: claim, release what other queries hold for this one, delete manifests, list refs, delete
objects. Whoever clones puts a ref before it reads the manifest again, so one of the two sees the
other; and only the manifests tell what to release.

Failure: killed after the claim → an empty query, and rubbish that a second removal finds.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from holdfast.chain.claim import claim
from holdfast.chain.foreign import of_query, release, roots_named
from holdfast.chain.head import Head
from holdfast.chain.read import list_manifests
from holdfast.chain.recover import go_on_from
from holdfast.chain.refs import Ref, list_refs, read_ref
from holdfast.chain.summary import Summaries
from holdfast.errors import CorruptionError, MisuseError, NotFoundError
from holdfast.layout import Kind as KeyKind
from holdfast.objectstore import scan

if TYPE_CHECKING:
    from holdfast.chain.context import Context


def remove(context: Context, *, purge: bool = False) -> int:
    """Delete the query and return how many objects went.

    Two small objects stay, which keep a driver that is still asleep from going on; `purge`
    deletes these too, for a query that no driver can be running.

    Raises:
        MisuseError: a clone still names its objects.
    """
    require_no_clones(context)
    roots = _roots(context)
    writer = claim(context, read=partial(go_on_from, Head()), new_lineage=True)
    release(context, roots)
    number = writer.head.number
    fence = {context.keys.manifest(number), context.keys.intent(number)}
    manifests = [context.keys.manifest(n) for n in list_manifests(context).numbers if n != number]
    context.store.delete(manifests)
    require_no_clones(context)
    # Below this root there may be other queries too: "eu" and "eu/orders" live side by side.
    stored = (meta.key for meta in scan(context.store, context.keys.root))
    doomed = [key for key in stored if context.keys.parse(key) is not None]
    # Intents go last: while one is left, a start refuses to take the query for a new one.
    doomed.sort(key=lambda key: (key.startswith(context.keys.intents), key))
    doomed = [key for key in doomed if purge or key not in fence]
    context.store.delete(doomed)
    return len(manifests) + len(doomed)


def _roots(context: Context) -> set[str]:
    """The roots of the other queries that hold objects for this one."""
    summaries = Summaries(context).of(list_manifests(context)).values()
    refs = (ref for summary in summaries for ref in summary.named)
    origins = {summary.parent.query for summary in summaries if summary.parent is not None}
    named = {ref for found in _readable_refs(context) for ref in found.named()}
    return {
        *roots_named(refs),
        *roots_named(named),
        *(of_query(context, origin).keys.root for origin in origins if origin),
    }


def _readable_refs(context: Context) -> list[Ref]:
    """Tags that cannot be read go with the rest."""
    found: list[Ref] = []
    for meta in list_refs(context):
        with suppress(CorruptionError, NotFoundError):
            found.append(read_ref(context, meta.key))
    return found


def require_no_clones(context: Context) -> None:
    """Nothing, unless a clone needs this query; only reads.

    Raises:
        MisuseError: a clone still names its objects.
    """
    parsed = [context.keys.parse(meta.key) for meta in list_refs(context)]
    clones = [key.name for key in parsed if key is not None and key.kind is KeyKind.CLONE]
    if clones:
        raise MisuseError(
            "clones of this query still use its objects",
            hint="remove the clones first",
            query=context.query,
            clones=", ".join(clones),
        )
