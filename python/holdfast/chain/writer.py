"""The only writer of a claimed chain: one intent and one manifest per batch.

Invariants: an intent is durable before its batch runs; whatever a manifest names is durable
before it exists; after any error the writer writes nothing more.

Time: each gate (`intent`, `commit`) has one deadline for all its requests, `gate_seconds`. No gate
lasts longer than that and the `READ_BACK_SECONDS` in which the outcome of its last write may still
be read back. Hints and retention are not part of a gate.

Failure: killed before an intent → the batch was never planned. After it → the next claim adopts
the plan. Before a manifest → the batch runs again with that plan. After it → it is committed.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from holdfast.chain import rules
from holdfast.chain.compose import Change, Draft, NewFile, compose
from holdfast.chain.create import create, fenced, fenced_by_intent, fenced_by_manifest
from holdfast.chain.hint import HintKeeper
from holdfast.chain.planning import files_of, last_of_each, new_plan
from holdfast.chain.retain import Retainer, RetentionReport
from holdfast.errors import (
    AlreadyExistsError,
    CarriedPlanError,
    HoldfastError,
    MisuseError,
    NotFoundError,
)
from holdfast.manifest.facts import Facts
from holdfast.manifest.intent import Intent, IntentKind
from holdfast.manifest.record import Kind
from holdfast.objectstore import PutMode

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from holdfast.chain.context import Context
    from holdfast.chain.head import Head
    from holdfast.chain.recover import ChainReport
    from holdfast.manifest.plan import Plan
    from holdfast.manifest.record import ChainManifest


@dataclass(frozen=True, slots=True, kw_only=True)
class Committed:
    """A durable checkpoint: what was written, and what is due now that it exists."""

    number: int
    batch: int
    files: int
    manifest_bytes: int
    pack_bytes: int
    full: bool
    hint_due: bool


class ChainWriter:
    """Called by one thread at a time; made by `claim`."""

    def __init__(
        self, context: Context, head: Head, report: ChainReport, *, claimed: ChainManifest
    ) -> None:
        self._context = context.without_deadline()
        self._head = head
        self._report = report
        self._failed = ""
        self._planned = 0
        self._hint = HintKeeper(self._context)
        self._retainer = Retainer(self._context)
        self._follow(claimed)

    @property
    def head(self) -> Head:
        """The state of the last checkpoint of this chain; to be read, not changed."""
        return self._head

    @property
    def report(self) -> ChainReport:
        """What the claim found on the store."""
        return self._report

    @property
    def next_number(self) -> int:
        return self._head.number + 1

    def intent(
        self, batch: int, files: Iterable[NewFile], *, notes: Mapping[str, Any] | None = None
    ) -> Plan:
        """Make the plan of a batch durable; only then may it be shown and run.

        Raises:
            FencedError: another writer has taken the chain over.
            CarriedPlanError: an earlier run planned this batch otherwise; start again.
            CommitUnknownError, UnavailableError: the store does not answer.
        """
        self._require(batch)
        if self._planned == self.next_number:
            raise MisuseError("this batch has its plan", batch=batch)
        plan = new_plan(batch, self.next_number, files, notes)
        carried = {number: known.digest() for number, known in self._head.plans.items()}
        if rules.plan_differs(carried, batch, plan.digest()):
            self._failed = "a plan was carried"
            raise CarriedPlanError(
                "an earlier run planned this batch otherwise, and it may have reached the sink",
                hint=_hint(self._context.query, self._head.number, sum(n > batch for n in carried)),
                query=self._context.query,
                batch=batch,
            )
        with self._decisive():
            self._create_intent(self._new_intent(IntentKind.PLAN, plan=plan))
        self._head.plans[batch] = plan
        self._planned = plan.number
        return plan

    def commit(
        self,
        batch: int,
        files: Iterable[NewFile] = (),
        *,
        removed: Iterable[str] = (),
        facts: Facts | None = None,
        notes: Mapping[str, Any] | None = None,
    ) -> Committed:
        """Make a batch durable: its plan's files, these files, and what is gone since.

        Raises:
            FencedError: another writer has taken the chain over; the batch is not committed.
            CommitUnknownError: the store does not say whether the manifest was created.
            UnavailableError, StoreError: nothing was committed.
        """
        self._require(batch)
        plans = self._head.plans
        planned = files_of(plans[batch]) if batch in plans else ()
        head, number = self._head, self.next_number
        change = Change(
            kind=Kind.COMMIT,
            number=number,
            claim=head.claim,
            lineage=head.lineage,
            batch=batch,
            full=number - head.base >= self._context.settings.full_every,
            facts=facts or Facts(),
            added=last_of_each((*planned, *files)),
            removed=frozenset(removed),
            plans=tuple(plan for later, plan in sorted(plans.items()) if later > batch),
            notes=notes or {},
        )
        return self._publish(change)

    def supersede(self, change: Change, *, onto: Head, target: int) -> Committed:
        """Append a rollback or reset: void the next number for it, then its manifest."""
        with self._decisive():
            self._create_intent(self._new_intent(IntentKind.ROLLBACK, target=target))
        return self._publish(change, onto=onto)

    def write_hint(self) -> None:
        """Move `latest.json` forward to the last checkpoint; nothing depends on it.

        Raises:
            StoreError, UnavailableError: it stays where it was.
        """
        self._hint.move_to(self._head.number)

    def retain(self) -> RetentionReport:
        """Delete what the settings no longer keep; any thread may call it, one at a time.

        Raises:
            CorruptionError, StoreError, UnavailableError: see `Retainer.run`.
        """
        return self._retainer.run(self._context.settings.retain)

    def _publish(self, change: Change, *, onto: Head | None = None) -> Committed:
        context = self._context.with_deadline()
        draft = compose(context, onto or self._head, change, recap=self._head.recap)
        with self._decisive():
            self._put_pack(context, draft)
            outcome = create(context, context.keys.manifest(change.number), draft.body)
            if not outcome.ours:
                raise fenced_by_manifest(context, change.number, outcome.other)
        self._follow(replace(draft.entry, etag=outcome.etag))
        every = self._context.settings.hint_every
        return Committed(
            number=change.number,
            batch=change.batch,
            files=len(change.added),
            manifest_bytes=len(draft.body),
            pack_bytes=len(draft.pack),
            full=change.full,
            hint_due=every > 0 and change.number % every == 0,
        )

    def _follow(self, entry: ChainManifest) -> None:
        """This manifest is durable: go on from it."""
        self._retainer.learn(entry)
        self._head.advance(entry)

    def _put_pack(self, context: Context, draft: Draft) -> None:
        """Create-only: where another's bytes are, another has this number."""
        if not draft.pack_key:
            return
        try:
            context.store.put(draft.pack_key, draft.pack, mode=PutMode.CREATE)
        except AlreadyExistsError as error:
            raise fenced(context, draft.entry.number, None, 0) from error

    def _create_intent(self, intent: Intent) -> None:
        context = self._context.with_deadline()
        outcome = create(context, context.keys.intent(intent.number), intent.encode())
        if not outcome.ours:
            raise fenced_by_intent(context, intent.number, outcome.other)
        if outcome.read_back:
            # Time has passed since it took effect: a claim may have adopted it and gone on.
            _require_absent(context.with_grace(), intent.number)

    def _new_intent(
        self, kind: IntentKind, *, plan: Plan | None = None, target: int | None = None
    ) -> Intent:
        return Intent(
            kind=kind,
            number=self.next_number,
            nonce=self._context.nonces(),
            claim=self._head.claim,
            query=self._context.query,
            incarnation=self._head.lineage.incarnation,
            writer=self._context.writer,
            timestamp_ms=self._context.clock.now_ms(),
            plan=plan,
            target=target,
        )

    def _require(self, batch: int) -> None:
        if self._failed:
            raise MisuseError(
                "this writer has stopped", hint="claim the chain again", reason=self._failed
            )
        if batch != self._head.next_batch:
            raise MisuseError(
                "batches are committed one after the other",
                batch=batch,
                expected=self._head.next_batch,
            )

    @contextmanager
    def _decisive(self) -> Iterator[None]:
        """Whatever goes wrong in here leaves the outcome open, so nothing may follow it."""
        self._failed = "a write was cut short"
        try:
            yield
        except HoldfastError as error:
            self._failed = str(error)
            raise
        self._failed = ""


def _require_absent(context: Context, number: int) -> None:
    try:
        body = context.store.get(context.keys.manifest(number)).body
    except NotFoundError:
        return
    raise fenced_by_manifest(context, number, body)


def _hint(query: str, number: int, later: int) -> str:
    """What to do about a carried plan, with how many more there are."""
    again = "start the query again: it then runs the earlier plan"
    if not later:
        return again
    return (
        f"{again}; {later} more are carried, each of which may take a start of its own. "
        f"`holdfast rollback {query} --to {number} --yes` gives them all up instead: what their "
        "batches have sent to the sink may then come again, cut otherwise"
    )
