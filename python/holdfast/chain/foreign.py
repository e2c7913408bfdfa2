"""Objects of other queries: a clone names them, and a ref at their owner protects them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.chain.context import Context
from holdfast.layout import query_of_path

if TYPE_CHECKING:
    from collections.abc import Iterable

    from holdfast.manifest.files import ObjectRef


def of_query(context: Context, query: str) -> Context:
    """The same store, seen as another query's."""
    return Context(
        store=context.store,
        query=query,
        settings=context.settings,
        clock=context.clock,
        nonces=context.nonces,
        writer=context.writer,
    )


def roots_named(refs: Iterable[ObjectRef]) -> set[str]:
    """The roots of the queries whose objects are named as another's."""
    foreign = {ref.key for ref in refs if ref.key.startswith("/")}
    return {f"{key[1:].rpartition('/checkpoints/')[0]}/" for key in foreign}


def release(context: Context, roots: Iterable[str]) -> None:
    """This clone names nothing of these roots any more: take its refs there away."""
    owners = [of_query(context, query_of_path(root)) for root in roots]
    if owners:
        context.store.delete([owner.keys.clone(context.query) for owner in owners])
