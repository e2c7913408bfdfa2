"""Claiming a chain: from here on no earlier writer can plan or commit anything that counts.

Failure: killed after the void intent → the number is reserved, an earlier driver is fenced at it,
and the next claim goes on from there. Killed after the manifest → a claim without a driver, which
the next start follows as any other checkpoint.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.chain import rules
from holdfast.chain.compose import Change, Draft, compose
from holdfast.chain.create import create, fenced_by_manifest
from holdfast.chain.read import fetch_intent, list_intents, list_manifests, parse_intent
from holdfast.chain.recover import Recovery, recover
from holdfast.chain.writer import ChainWriter
from holdfast.errors import CorruptionError, FencedError
from holdfast.manifest.intent import Intent, IntentKind
from holdfast.manifest.record import Kind
from holdfast.objectstore import PutMode

_BLOCK_MAX = 64
_WALK_MAX = 1024

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.chain.context import Context
    from holdfast.chain.create import Created
    from holdfast.manifest.plan import Plan


def claim(
    context: Context, *, read: Callable[[Context], Recovery] = recover, new_lineage: bool = False
) -> ChainWriter:
    """Take the chain over and return its only writer.

    `read` finds what to go on from; a rollback that repairs a broken chain brings its own. Then
    the claim begins a new lineage and adopts no plan, not even one that cannot be read.

    Raises:
        CorruptionError: there is no state that may be gone on from.
        FencedError: others claimed in between, a bounded number of times.
        CommitUnknownError, UnavailableError: the store does not answer.
    """
    lost: FencedError | None = None
    blocked = walked = 0
    attempts = context.settings.claim_attempts_max
    while attempts > 0 and walked < _WALK_MAX:
        recovery = read(context)
        number = recovery.highest + 1
        taken = reserve(context, number)
        if not taken.ours and taken.other is None:
            attempts -= 1  # it was taken and is gone again: what was listed is old
            continue
        plans = () if new_lineage else _adopt(recovery, _parsed(context, number, taken.other))
        draft = _draft(context, recovery, number, plans, new_lineage=new_lineage)
        outcome = publish(context, draft)
        if outcome.ours and number < blocked:
            walked += 1  # no one is in the way: numbers up to there were voided for a claim
            continue
        attempts -= 1
        if not outcome.ours:
            lost = fenced_by_manifest(context, number, outcome.other)
            blocked = _block(context, number + 1)
            continue
        ahead = _ahead(context, number)
        if rules.is_highest(number, ahead):
            entry = replace(draft.entry, etag=outcome.etag)
            return ChainWriter(context, recovery.head, recovery.report, claimed=entry)
        blocked = max(ahead)
    raise lost or FencedError(
        "others keep claiming this query", hint="let only one driver run it", query=context.query
    )


def _ahead(context: Context, number: int) -> set[int]:
    """Numbers above this one that have a manifest or an intent."""
    return {*list_manifests(context, above=number).numbers, *list_intents(context, above=number)}


def _block(context: Context, start: int) -> int:
    """Void the first free number from here on, and return it.

    A driver that commits faster than this claim reads would win for ever. It needs two writes
    per number and this needs one, so it is overtaken, and stops where this got ahead of it.
    Every claim then goes on to that number, for no one can plan it any more.
    """
    for number in range(start, start + _BLOCK_MAX):
        if create(context, context.keys.intent(number), _void(context, number)).ours:
            return number
    return start


def publish(context: Context, draft: Draft) -> Created:
    """Pack, then manifest."""
    if draft.pack_key:
        context.store.put(draft.pack_key, draft.pack, mode=PutMode.CREATE)
    return create(context, context.keys.manifest(draft.entry.number), draft.body)


def reserve(context: Context, number: int) -> Created:
    """Void the number's intent; if it is taken, it is the plan of a batch that was running."""
    return create(context, context.keys.intent(number), _void(context, number))


def _parsed(context: Context, number: int, body: bytes | None) -> Intent | None:
    if body is None:
        return None
    try:
        return parse_intent(context, number, body)
    except CorruptionError:
        return fetch_intent(context, number)  # read once more, it may be whole


def _void(context: Context, number: int) -> bytes:
    return Intent(
        kind=IntentKind.VOID,
        number=number,
        nonce=context.nonces(),
        claim=number,
        query=context.query,
        writer=context.writer,
        timestamp_ms=context.clock.now_ms(),
    ).encode()


def adopted(context: Context, recovery: Recovery) -> tuple[Plan, ...]:
    """The plans that a claim would carry now, the first one being shown; only reads.

    Raises:
        CorruptionError: the plan of a batch that may have run cannot be read.
    """
    return _adopt(recovery, fetch_intent(context, recovery.highest + 1))


def _adopt(recovery: Recovery, found: Intent | None) -> tuple[Plan, ...]:
    """The plans of all batches after the head, the first one of each batch."""
    head = recovery.head
    plans = dict(head.plans)
    numbers = rules.numbers_to_adopt(head.number, recovery.highest + 1)
    for intent in (*recovery.intents, found):
        if intent is not None and intent.plan is not None and intent.number in numbers:
            plans.setdefault(intent.plan.batch, intent.plan)
    return tuple(plan for batch, plan in sorted(plans.items()) if batch > head.batch)


def _draft(
    context: Context,
    recovery: Recovery,
    number: int,
    plans: tuple[Plan, ...],
    *,
    new_lineage: bool,
) -> Draft:
    head = recovery.head
    change = Change(
        kind=Kind.CLAIM,
        number=number,
        claim=number,
        lineage=number if new_lineage else head.lineage,
        batch=head.batch,
        full=True,
        facts=head.facts,
        plans=plans,
        notes=head.notes,
    )
    return compose(context, head, change, recap=head.recap)
