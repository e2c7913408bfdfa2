"""Going back: a rollback to a checkpoint or a tag, and a reset to nothing.

History stays: a rollback is one more full manifest at the end, with the old files. It begins a
new lineage, in which batches count anew, and adopts no plan.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from holdfast.chain import rules
from holdfast.chain.claim import claim
from holdfast.chain.compose import Change
from holdfast.chain.read import list_manifests
from holdfast.chain.recover import Recovery, go_on_from, recover
from holdfast.chain.refs import hold, source, tag
from holdfast.errors import (
    CommitUnknownError,
    CorruptionError,
    HoldfastError,
    NotFoundError,
    UnavailableError,
)
from holdfast.manifest.facts import Facts
from holdfast.manifest.record import Kind

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.chain.context import Context
    from holdfast.chain.head import Head
    from holdfast.chain.writer import ChainWriter, Committed


@dataclass(frozen=True, slots=True, kw_only=True)
class RolledBack:
    """A durable, confirmed rollback."""

    number: int
    target: int
    batch: int
    repaired: bool


def rollback(context: Context, target: int | str) -> RolledBack:
    """Go back to a checkpoint by number, or to a tag by name; a running driver is fenced.

    Raises:
        NotFoundError: there is no such tag, or the query was removed.
        CorruptionError: the target is not valid.
        FencedError: another writer claimed in between; nothing was rolled back.
        CommitUnknownError: it was written but is not known to hold; look before you repeat it.
    """
    key = context.keys.tag(f".rollback-{context.nonces()}")  # a name that is never given again
    origin = source(context, target)
    try:
        done = _append(context, hold(context, origin, key).head())
    except CommitUnknownError:
        raise  # it may stand yet, and then only this ref protects what it names
    except HoldfastError:
        with suppress(HoldfastError):  # what went wrong is told; a ref that stays does no harm
            context.store.delete([key])
        raise
    context.store.delete([key])
    return done


def reset(
    context: Context, tag_name: str, *, unless: Callable[[Head], bool] = lambda _: False
) -> Committed | None:
    """Begin anew with no files; what was there stays under a tag.

    `unless` is asked after the claim, when no one else can change the chain: where it is true of
    the head, nothing is reset, and None is returned.

    Raises:
        As `rollback`; AlreadyExistsError if the tag's name is taken.
    """
    writer = claim(context, read=_recover_existing)
    head = writer.head
    if unless(head):
        return None
    tag(context, tag_name, head.number)
    change = Change(
        kind=Kind.RESET,
        number=writer.next_number,
        claim=head.claim,
        lineage=head.lineage.branch(writer.next_number, -1),
        batch=-1,
        full=True,
        facts=Facts(),
        removed=frozenset(head.files),
    )
    done = writer.supersede(change, onto=head, target=0)
    _confirm(context, done.number)
    return done


def _append(context: Context, onto: Head) -> RolledBack:
    writer, repaired = _take_over(context, onto)
    change = Change(
        kind=Kind.ROLLBACK,
        number=writer.next_number,
        claim=writer.head.claim,
        lineage=onto.lineage.branch(writer.next_number, onto.batch),
        batch=onto.batch,
        full=True,
        facts=onto.facts,
        notes=onto.notes,
    )
    target = onto.number
    done = writer.supersede(change, onto=onto, target=target)
    _confirm(context, done.number)
    return RolledBack(number=done.number, target=target, batch=done.batch, repaired=repaired)


def _take_over(context: Context, onto: Head) -> tuple[ChainWriter, bool]:
    """A claim; where the chain is too broken for one, a claim on the target itself."""
    read = partial(_recover_existing, incarnation=onto.lineage.incarnation)
    try:
        return claim(context, read=read), False
    except CorruptionError:
        return claim(context, read=partial(go_on_from, onto), new_lineage=True), True


def _recover_existing(context: Context, *, incarnation: str = "") -> Recovery:
    """A removed query has no state to leave, and what it had is being deleted.

    Raises:
        NotFoundError: there is no query, or another incarnation of it.
    """
    found = recover(context)
    if found.head.is_unused or rules.is_foreign(found.head.lineage.incarnation, incarnation):
        raise NotFoundError("this query was removed meanwhile", query=context.query)
    return found


def _confirm(context: Context, number: int) -> None:
    """Listed once more: is it still the newest?"""
    try:
        above = list_manifests(context, above=number).numbers
    except UnavailableError as error:
        raise CommitUnknownError(
            "a rollback was written, but the store does not say whether it is the newest",
            hint="`holdfast ls` shows what the chain follows; do not repeat this blindly",
            query=context.query,
            number=number,
            reason=error.message,
        ) from error
    if not rules.is_highest(number, above):
        raise CommitUnknownError(
            "a rollback was written, but another writer is ahead of it",
            hint="`holdfast ls` shows what the chain follows; do not repeat this blindly",
            query=context.query,
            number=number,
            ahead=max(above),
        )
