"""Removing a query: a claim with no files, which fences whoever runs it, then all the rest.

Failure: killed after the claim → an empty query, and rubbish that a second removal finds.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from holdfast.chain.claim import claim
from holdfast.chain.foreign import release, roots_named
from holdfast.chain.head import Head
from holdfast.chain.read import list_manifests
from holdfast.chain.recover import go_on_from
from holdfast.chain.refs import list_refs
from holdfast.chain.summary import Summaries
from holdfast.errors import MisuseError
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
    summaries = Summaries(context).of(list_manifests(context))
    named = {ref for summary in summaries.values() for ref in summary.named}
    writer = claim(context, read=partial(go_on_from, Head()), new_lineage=True)
    number = writer.head.number
    fence = {context.keys.manifest(number), context.keys.intent(number)}
    # Below this root there may be other queries too: "eu" and "eu/orders" live side by side.
    stored = (meta.key for meta in scan(context.store, context.keys.root))
    doomed = [key for key in stored if context.keys.parse(key) is not None]
    # Intents go last: while one is left, a start refuses to take the query for a new one.
    doomed.sort(key=lambda key: (key.startswith(context.keys.intents), key))
    doomed = [key for key in doomed if purge or key not in fence]
    context.store.delete(doomed)
    release(context, roots_named(named))
    return len(doomed)


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
