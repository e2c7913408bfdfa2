"""The first manifest of a chain that begins with a state from elsewhere: a clone, or an import.

Failure: killed before the manifest → a void intent 1, with which any start or import of this name
goes on; objects that were put for it are garbage once the chain has another claim. After it → a
chain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.chain.claim import publish, reserve
from holdfast.chain.compose import Change, compose
from holdfast.chain.planning import new_plan
from holdfast.chain.read import list_intents, list_manifests
from holdfast.errors import AlreadyExistsError
from holdfast.manifest.record import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from holdfast.chain.compose import NewFile
    from holdfast.chain.context import Context
    from holdfast.chain.head import Head
    from holdfast.manifest.facts import Facts
    from holdfast.manifest.record import ChainManifest

FIRST = 1


def begin(
    context: Context,
    state: Head,
    *,
    facts: Facts,
    added: Iterable[NewFile] = (),
    planned: Iterable[NewFile] = (),
    notes: Mapping[str, Any],
    origin: str = "",
) -> ChainManifest:
    """Create manifest 1 with the files, objects and batch of a state.

    `added` files come on top of it, `planned` ones are the plan of its next batch, which a start
    shows. `origin` is the query that it was cloned from; an import has none.

    Raises:
        AlreadyExistsError: somebody has begun this query meanwhile.
        CommitUnknownError, UnavailableError: the store does not answer.
    """
    shown = tuple(planned)
    plans = (new_plan(state.next_batch, FIRST, shown, None),) if shown else ()
    change = Change(
        kind=Kind.CLONE,
        number=FIRST,
        claim=FIRST,
        lineage=FIRST,
        batch=state.batch,
        full=True,
        facts=facts,
        added=tuple(added),
        plans=plans,
        notes=notes,
        parent_query=origin,
    )
    reserve(context, FIRST)
    draft = compose(context, state, change)
    if not publish(context, draft).ours:
        raise AlreadyExistsError("a query of this name was begun meanwhile", query=context.query)
    return draft.entry


def require_unused(context: Context) -> None:
    """Nothing, unless there is a query of this name.

    Raises:
        AlreadyExistsError: there is.
    """
    if list_manifests(context).numbers or max(list_intents(context), default=0) > FIRST:
        raise AlreadyExistsError(
            "a query of this name exists",
            hint="choose another name, or `holdfast rm --purge` it first",
            query=context.query,
        )
