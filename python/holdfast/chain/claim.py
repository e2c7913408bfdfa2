"""Claiming a chain: from here on no earlier writer can plan or commit anything that counts.

Failure: killed after the void intent → the number is reserved, an earlier driver is fenced at it,
and the next claim goes on from there. Killed after the manifest → a claim without a driver, which
the next start follows as any other checkpoint.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from holdfast.chain import rules
from holdfast.chain.compose import Change, Draft, compose
from holdfast.chain.create import create, fenced_by_manifest
from holdfast.chain.hint import read_hint
from holdfast.chain.read import fetch_intent, list_intents, list_manifests, parse_intent
from holdfast.chain.recover import Recovery, missing_above, recover
from holdfast.chain.writer import ChainWriter
from holdfast.errors import CorruptionError, FencedError
from holdfast.manifest.intent import Intent, IntentKind
from holdfast.manifest.record import Kind, Lineage
from holdfast.objectstore import PutMode

_BLOCK_MAX = 64

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.chain.context import Context
    from holdfast.chain.create import Created
    from holdfast.manifest.plan import Plan


def claim(
    context: Context,
    *,
    read: Callable[[Context], Recovery] = recover,
    new_lineage: bool = False,
    kind: Kind = Kind.CLAIM,
) -> ChainWriter:
    """Take the chain over and return its only writer.

    `read` finds the state to continue from; a rollback that repairs a broken chain brings its own.
    With `new_lineage` the claim adopts no plan, not even one that cannot be read.

    Raises:
        CorruptionError: there is no state to continue from.
        FencedError: others claimed in between, a bounded number of times.
        CommitUnknownError, UnavailableError: the store does not answer.
    """
    context = context.with_deadline()
    lost: FencedError | None = None
    for _ in range(context.settings.claim_attempts_max):
        attempt = _Attempt(context, read(context), kind, new_lineage=new_lineage)
        writer = attempt.run()
        if writer is not None:
            return writer
        lost = attempt.lost or lost
    raise lost or FencedError(
        "others keep claiming this query", hint="let only one driver run it", query=context.query
    )


@dataclass(slots=True)
class _Attempt:
    """One attempt: claim the next number, then the last one that has an intent."""

    context: Context
    recovery: Recovery
    kind: Kind
    new_lineage: bool = field(kw_only=True)
    incarnation: str = ""
    hint: int = 0
    intents: dict[int, Intent] = field(default_factory=dict)
    lost: FencedError | None = None

    def run(self) -> ChainWriter | None:
        """The writer; None if another writer was faster, or the listing is outdated."""
        context, number = self.context, self.recovery.highest + 1
        reserved = reserve(context, number)
        if not reserved.ours and reserved.other is None:
            return None  # it was taken and is gone again
        self._read_reserved(number, reserved.other)
        self.hint = 0 if self.new_lineage else read_hint(context)
        for _ in range(context.settings.claim_attempts_max):
            draft = self._draft(number)
            outcome = publish(context, draft)
            if not outcome.ours:
                self.lost = fenced_by_manifest(context, number, outcome.other)
                _block(context, number + 1)
                return None
            ahead, manifests = _list_above(context, number)
            if not rules.is_highest(number, manifests):
                return None
            if rules.is_highest(number, ahead):
                return self._writer(replace(draft, entry=replace(draft.entry, etag=outcome.etag)))
            self._read_ahead(ahead)
            number = ahead[-1]
        return None

    def _writer(self, draft: Draft) -> ChainWriter:
        report = replace(self.recovery.report, skipped=draft.entry.record.skipped)
        return ChainWriter(self.context, self.recovery.head, report, claimed=draft.entry)

    def _read_reserved(self, number: int, body: bytes | None) -> None:
        """The intent of a batch that was running when this claim took its number."""
        if body is None or self.new_lineage:
            return
        found = _parsed(self.context, number, body)
        if found is not None:
            self.intents[number] = found

    def _read_ahead(self, numbers: list[int]) -> None:
        """Intents above a claim: voids of claims that were cut short, and plans of batches whose
        predecessors' manifests are missing.
        """  # noqa: D205 - one sentence
        if self.new_lineage:
            return
        for number in numbers:
            found = fetch_intent(self.context, number)
            if found is not None:
                self.intents[number] = found

    def _draft(self, number: int) -> Draft:
        head = self.recovery.head
        plans = () if self.new_lineage else _adopt(self.recovery, self.intents, number)
        missing = missing_above(self.recovery.highest, self.hint, self.intents.values())
        change = Change(
            kind=self.kind,
            number=number,
            claim=number,
            lineage=self._lineage(number),
            batch=head.batch,
            full=True,
            facts=head.facts,
            plans=plans,
            notes=head.notes,
            skipped=(*sorted(missing.items(), reverse=True), *self.recovery.report.skipped),
        )
        return compose(self.context, head, change, recap=head.recap)

    def _lineage(self, number: int) -> Lineage:
        head = self.recovery.head
        if head.is_unused or not head.lineage.incarnation:
            self.incarnation = self.incarnation or self.context.nonces()
            lineage = Lineage(incarnation=self.incarnation, number=head.lineage.number)
        else:
            lineage = head.lineage
        return lineage.branch(number, head.batch) if self.new_lineage else lineage


def _list_above(context: Context, number: int) -> tuple[list[int], list[int]]:
    """Intents and manifests above a claim, the intents first.

    So a rival whose claim is not in the second listing finds these intents when it lists them, and
    runs no batch below them.
    """
    intents = list_intents(context, above=number)
    return intents, list(list_manifests(context, above=number).numbers)


def _block(context: Context, start: int) -> None:
    """Void the first free number from here on.

    A driver that commits faster than this claim reads would win every race. It needs two writes
    per number and this needs one, so it is overtaken, and stops at the voided number. Every claim
    continues up to that number, so the void itself stops no later driver.
    """
    for number in range(start, start + _BLOCK_MAX):
        if reserve(context, number).ours:
            return


def publish(context: Context, draft: Draft) -> Created:
    """Pack, then manifest."""
    if draft.pack_key:
        context.store.put(draft.pack_key, draft.pack, mode=PutMode.CREATE)
    return create(context, context.keys.manifest(draft.entry.number), draft.body)


def reserve(context: Context, number: int) -> Created:
    """Void the number's intent; if it is taken, it is the plan of a batch that was running."""
    intent = Intent(
        kind=IntentKind.VOID,
        number=number,
        nonce=context.nonces(),
        claim=number,
        query=context.query,
        writer=context.writer,
        timestamp_ms=context.clock.now_ms(),
    )
    return create(context, context.keys.intent(number), intent.encode())


def _parsed(context: Context, number: int, body: bytes) -> Intent | None:
    try:
        return parse_intent(context, number, body)
    except CorruptionError:
        return fetch_intent(context, number)  # read once more, it may be whole


def adopted(context: Context, recovery: Recovery) -> tuple[Plan, ...]:
    """The plans that a claim would carry now, the first one being shown; only reads.

    Raises:
        CorruptionError: the plan of a batch that may have run cannot be read.
    """
    numbers = list_intents(context, above=recovery.highest)
    intents = {number: fetch_intent(context, number) for number in numbers}
    found = {number: intent for number, intent in intents.items() if intent is not None}
    return _adopt(recovery, found, max(numbers, default=recovery.highest + 1))


def _adopt(recovery: Recovery, found: dict[int, Intent], claimed: int) -> tuple[Plan, ...]:
    """The plans of all batches after the head, the first one of each batch."""
    head = recovery.head
    plans = dict(head.plans)
    numbers = rules.numbers_to_adopt(head.number, claimed)
    for intent in (*recovery.intents, *(found[number] for number in sorted(found))):
        if intent.plan is not None and intent.number in numbers:
            _require_incarnation(recovery, intent)
            plans.setdefault(intent.plan.batch, intent.plan)
    return tuple(plan for batch, plan in sorted(plans.items()) if batch > head.batch)


def _require_incarnation(recovery: Recovery, intent: Intent) -> None:
    head = recovery.head
    if rules.is_foreign(head.lineage.incarnation, intent.incarnation):
        raise CorruptionError(
            "a plan belongs to another incarnation of this query",
            hint="a request from before the query was removed arrived late; delete the intent",
            number=intent.number,
            found=intent.incarnation,
            expected=head.lineage.incarnation,
        )
