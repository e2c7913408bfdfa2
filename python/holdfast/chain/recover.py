"""Recovery: the newest checkpoint that validates in full, and why each newer one does not.

Only reads. A fresh start is reported only where there is no manifest and no intent above 1;
checkpoints that exist but cannot be used are an error for the operator.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.chain import rules
from holdfast.chain.head import Head
from holdfast.chain.objects import MissingError, Presence, check_hashes, needed
from holdfast.chain.read import (
    GoneError,
    Listing,
    Reader,
    fetch_intent,
    list_intents,
    list_manifests,
)
from holdfast.errors import CorruptionError, NotFoundError, UnavailableError
from holdfast.manifest.intent import Intent, IntentKind
from holdfast.manifest.record import Kind
from holdfast.objectstore.parallel import gather

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from holdfast.chain.context import Context


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainReport:
    """What recovery chose and why; `chosen` is None for a chain that never was."""

    chosen: int | None
    skipped: tuple[tuple[int, str], ...] = ()
    examined: int = 0
    elapsed_s: float = 0.0
    highest: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovery:
    """The head to go on from, the highest number listed, and the intents in between."""

    head: Head
    report: ChainReport
    highest: int = 0
    intents: tuple[Intent, ...] = ()


def recover(
    context: Context, *, deep: bool = False, verify: Callable[[Head], None] | None = None
) -> Recovery:
    """Walk from the newest number down to the first checkpoint that validates.

    `deep` reads and hashes every object; by default their sizes are compared. `verify` may check
    more of a head that is about to be chosen: a `CorruptionError` that it raises skips that head.

    Raises:
        CorruptionError: checkpoints exist and none is valid, a plan cannot be read, or the walk
            would undo a rollback.
        UnavailableError: the chain changed under every attempt, or the store does not answer.
    """
    started = context.clock.monotonic()
    previous: Listing | None = None
    for _ in range(context.settings.relist_max):
        listing = list_manifests(context)
        settled = listing == previous
        previous = listing
        if not listing.numbers:
            if _is_fresh(context, settled=settled):
                return Recovery(head=Head(), report=ChainReport(chosen=None))
            continue
        walk = _Walk(context, listing, settled=settled, deep=deep, verify=verify)
        head = walk.run()
        if head is not None:
            report = walk.report(head, context.clock.monotonic() - started)
            return _between(context, head, listing, report)
    raise UnavailableError(
        "the chain changed while it was read, again and again",
        hint="another driver is running this query; start again when it has stopped",
        query=context.query,
    )


def go_on_from(onto: Head, context: Context) -> Recovery:
    """A `read` for `claim`: this head, whatever the chain holds; the listing gives the number."""
    highest = list_manifests(context).highest
    report = ChainReport(chosen=onto.number or None, highest=highest)
    return Recovery(head=onto.copy(), highest=highest, report=report)


def _is_fresh(context: Context, *, settled: bool) -> bool:
    """No manifest: is there a sign that there was one?

    Intents without manifests may also be a chain that was begun since the manifests were listed.
    """
    intents = list_intents(context)
    if not intents or intents[-1] <= 1:
        return True
    if not settled:
        return False
    raise CorruptionError(
        "a chain has intents but no manifest: its checkpoints were deleted",
        hint="restore them, or remove the rest with `holdfast rm` to start afresh",
        query=context.query,
        highest_intent=intents[-1],
    )


def missing_above(highest: int, hint: int, intents: Iterable[Intent]) -> dict[int, str]:
    """Numbers above the highest manifest that had one once, and how that is known.

    A batch is planned after the one before it is committed, and the hint is moved after its
    checkpoint exists. Without either sign a deleted manifest is like one that never was.
    """
    found = {hint: "latest.json names it"} if hint > highest else {}
    for intent in intents:
        if intent.kind is not IntentKind.VOID and intent.number - 1 > highest:
            found.setdefault(intent.number - 1, f"intent {intent.number} was made after it")
    return {number: f"its manifest is missing: {sign}" for number, sign in found.items()}


class _Walk:
    """One walk over one listing."""

    def __init__(
        self,
        context: Context,
        listing: Listing,
        *,
        settled: bool,
        deep: bool,
        verify: Callable[[Head], None] | None,
    ) -> None:
        self._context = context
        self._listing = listing
        self._settled = settled
        self._deep = deep
        self._verify = verify
        self._reader = Reader(context)
        self._presence = Presence(context)
        self._skipped: list[tuple[int, str]] = []

    def run(self) -> Head | None:
        """The newest valid head; None if the listing is too old to tell."""
        numbers = self._listing.descending()
        for position, number in enumerate(numbers):
            # The further the walk, the more is fetched at once: rounds grow as the logarithm.
            self._reader.prefetch(numbers[position : position + max(1, position)])
            try:
                head = self._validated(number)
            except CorruptionError as error:
                if rules.must_list_again(gone=self._gone(number, error), settled=self._settled):
                    return None
                self._skipped.append((number, str(error)))
            else:
                if self._skipped and head.kind is Kind.REMOVED:
                    break  # what came before the removal is no state to continue from
                self._require_incarnation(head)
                return head
        raise CorruptionError(
            "checkpoints exist, and none is valid",
            hint="`holdfast validate` says why for each; restore one, or roll back to a tag",
            query=self._context.query,
            newest=self._skipped[0][0],
            reason=self._skipped[0][1],
        )

    def _require_incarnation(self, head: Head) -> None:
        """A head from before a removal is never taken in place of newer ones that are damaged."""
        for number, _ in self._skipped:
            newer = self._reader.incarnation(number)
            if rules.is_foreign(newer, head.lineage.incarnation):
                raise CorruptionError(
                    "the newest valid checkpoint belongs to an earlier incarnation of this query",
                    hint="restore a newer one, or roll back to a tag; "
                    "`holdfast rm` removes what is left of the query",
                    query=self._context.query,
                    number=head.number,
                    newer=number,
                )

    def _validated(self, number: int) -> Head:
        head = self._reader.head(number)
        refs = needed(head)
        self._presence.check(refs)
        if self._deep:
            check_hashes(self._context, refs)
        if self._verify is not None:
            self._verify(head)
        return head

    def _gone(self, number: int, error: CorruptionError) -> bool:
        """Whether what failed may have been retired since it was listed."""
        if not isinstance(error, MissingError):
            return isinstance(error, GoneError)
        # Retention deletes manifests before their objects: was this one deleted meanwhile?
        try:
            now = self._context.store.head(self._context.keys.manifest(number))
        except NotFoundError:
            return True
        return now.etag != self._listing.numbers[number].etag

    def report(self, head: Head, elapsed_s: float) -> ChainReport:
        return ChainReport(
            chosen=head.number,
            skipped=tuple(self._skipped),
            examined=len(self._skipped) + 1,
            elapsed_s=elapsed_s,
            highest=self._listing.highest,
        )


def _between(context: Context, head: Head, listing: Listing, report: ChainReport) -> Recovery:
    """The intents of the numbers that were walked over: they hold plans that may have run."""
    numbers = range(head.number + 1, listing.highest + 1)
    found = gather(
        lambda number: fetch_intent(context, number), numbers, parallel=context.settings.parallel
    )
    intents = tuple(intent for intent in found if intent is not None)
    rollbacks = [intent.number for intent in intents if intent.kind is IntentKind.ROLLBACK]
    if rules.walks_over_rollback(head.number, listing.highest, rollbacks):
        raise CorruptionError(
            "the manifest of a rollback cannot be read, and going on would undo it",
            hint="`holdfast rollback` to the checkpoint you want, by its number",
            query=context.query,
            number=rollbacks[-1],
            reason=dict(report.skipped).get(rollbacks[-1], "missing"),
        )
    return Recovery(head=head, highest=listing.highest, intents=intents, report=report)
