"""The first manifest of a chain that begins with a state from elsewhere: a clone, or an import.

Failure: killed before the manifest → a void intent, with which any start, clone or import of this
name continues; objects that were put for it are garbage once the chain has another claim. After it
→ a chain.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holdfast.chain import rules
from holdfast.chain.claim import publish, reserve
from holdfast.chain.compose import Change, compose
from holdfast.chain.planning import new_plan
from holdfast.chain.read import Reader, list_intents, list_manifests
from holdfast.errors import AlreadyExistsError, CorruptionError
from holdfast.manifest.record import Kind, Lineage

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from holdfast.chain.compose import NewFile
    from holdfast.chain.context import Context
    from holdfast.chain.head import Head
    from holdfast.manifest.facts import Facts
    from holdfast.manifest.record import ChainManifest


@dataclass(frozen=True, slots=True, kw_only=True)
class NewChain:
    """How a chain begins: the number and the lineage of its first manifest.

    `origin` is the query that it was cloned from; an import has none.
    """

    number: int
    lineage: Lineage
    origin: str = ""


def begin(
    context: Context,
    new: NewChain,
    state: Head,
    *,
    facts: Facts,
    added: Iterable[NewFile] = (),
    planned: Iterable[NewFile] = (),
    notes: Mapping[str, Any],
) -> ChainManifest:
    """Create the first manifest, with the files, objects and batch of a state.

    `added` files come on top of it, `planned` ones are the plan of its next batch, which a start
    shows.

    Raises:
        AlreadyExistsError: somebody has begun this query meanwhile.
        CommitUnknownError, UnavailableError: the store does not answer.
    """
    number, shown = new.number, tuple(planned)
    plans = (new_plan(state.next_batch, number, shown, None),) if shown else ()
    change = Change(
        kind=Kind.CLONE,
        number=number,
        claim=number,
        lineage=new.lineage,
        batch=state.batch,
        full=True,
        facts=facts,
        added=tuple(added),
        plans=plans,
        notes=notes,
        parent_query=new.origin,
    )
    reserve(context, number)
    draft = compose(context, state, change)
    is_ours = publish(context, draft).ours
    # A number that a removal has freed may be far below the chain that exists by now.
    if not is_ours or not rules.is_highest(number, list_manifests(context, above=number).numbers):
        raise AlreadyExistsError("a query of this name was begun meanwhile", query=context.query)
    return draft.entry


def first_number(context: Context) -> int:
    """The number with which a query of this name would begin; only reads.

    It follows the last one that a removed query of this name has used.

    Raises:
        AlreadyExistsError: there is a query of this name.
    """
    highest = list_manifests(context).highest
    intents = list_intents(context, above=highest)
    if not is_unused(context, highest) or max(intents, default=0) > highest + 1:
        raise AlreadyExistsError(
            "a query of this name exists",
            hint="choose another name, or `holdfast rm` it first",
            query=context.query,
        )
    return highest + 1


def is_unused(context: Context, highest: int) -> bool:
    """Whether there is no manifest, or the highest one says that the query was removed."""
    try:
        return not highest or Reader(context).manifest(highest).record.kind is Kind.REMOVED
    except CorruptionError:
        return False
