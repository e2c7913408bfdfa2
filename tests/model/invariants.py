"""What must hold at every state of every schedule, by what an observer outside knows.

- I1: a batch that was reported as committed is in what recovery takes, with the plan that ran,
  unless a rollback, a reset or a removal came after it.
- I2: a batch never reaches its sink with two different plans (within one lineage).
- I3: the newest manifest validates, unless something was corrupted.
- I4: once a claim exists, no earlier writer creates an intent or a manifest that counts.
- I5: recovery finds a checkpoint, and one writer alone can always claim and commit.
- I6: whatever a checkpoint, tag or clone needs is there (by I3, and by reading every file): one
  that was reported stays until its removal begins, and is whole.
- I8: a reset throws away no batch of the configuration that it is made for.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from holdfast.chain.contents import read_files
from holdfast.chain.context import Context
from holdfast.chain.foreign import of_query
from holdfast.chain.recover import Recovery, recover
from holdfast.chain.refs import find_tag, read_ref
from holdfast.errors import CorruptionError, HoldfastError
from holdfast.ids import Writer
from holdfast.layout import Keys
from holdfast.layout import Kind as KeyKind
from holdfast.manifest.intent import Intent, IntentKind, decode_intent
from holdfast.manifest.record import ChainManifest, Kind, decode_chain_manifest
from tests.model.actors import Driver, Reported
from tests.model.bounds import Bounds, settings
from tests.model.explorer import ViolationError
from tests.model.world import Actor, StillClock, World

if TYPE_CHECKING:
    from holdfast.chain.writer import ChainWriter
    from holdfast.objectstore import ObjectStore

QUERY = "q"
KEYS = Keys.of_query(QUERY)
CLAIMS = (Kind.CLAIM, Kind.ROLLBACK, Kind.RESET, Kind.CLONE, Kind.REMOVED)


@dataclass
class Ghost:
    """What an observer outside knows, and the protocol does not."""

    effects: dict[tuple[int, int], str] = field(default_factory=dict)
    reported: list[Reported] = field(default_factory=list)
    newest_claim: int = 0
    highest_ever: int = 0
    corrupted: list[int] = field(default_factory=list)
    superseded: list[int] = field(default_factory=list)
    rollbacks: list[int] = field(default_factory=list)
    tags: set[str] = field(default_factory=set)
    clones: set[str] = field(default_factory=set)
    removals: Counter[str] = field(default_factory=Counter)
    removing: Counter[str] = field(default_factory=Counter)
    configs: dict[str, int] = field(default_factory=dict)
    config: int | None = None
    decided: set[bytes] = field(default_factory=set)

    def fingerprint(self) -> Any:
        effects = tuple(sorted(self.effects.items()))
        damage = (tuple(self.corrupted), tuple(self.superseded))
        held = (tuple(sorted(self.tags)), tuple(sorted(self.clones)))
        return effects, self.newest_claim, tuple(self.reported), damage, held

    def rollback_is_unreadable(self) -> bool:
        """Then an error is what recovery must give."""
        return bool(self.corrupted and self.rollbacks) and max(self.corrupted) >= min(
            self.rollbacks
        )

    def removal_begins(self, *names: str) -> None:
        """From here on, tags and clones of these names need not be there."""
        for name in names:
            self.removals[name] += 1
            self.removing[name] += 1
            self.tags.discard(name)
            self.clones.discard(name)

    def removal_ends(self, *names: str) -> None:
        self.removing.subtract(names)

    def watch(self, name: str) -> int:
        """Before a tag or clone is made: how many removals of its name have begun."""
        return -1 if self.removing[name] else self.removals[name]

    def is_undisturbed(self, name: str, watched: int) -> bool:
        """Whether no removal of this name was under way since."""
        return watched == self.removals[name]

    def sink(self, writer: ChainWriter, batch: int, plan: str) -> None:
        record_effect(self.effects, writer.head.lineage.number, batch, plan)

    def observe(self, actor: Actor, key: str, body: bytes, *, is_late: bool) -> None:
        """A put took effect: was its writer allowed to decide anything?"""
        parsed = KEYS.parse(key)
        if parsed is None or parsed.kind not in (KeyKind.MANIFEST, KeyKind.INTENT):
            return
        if body in self.decided:
            return  # a retry, after retention has freed the number: nothing is decided anew
        self.decided.add(body)
        if parsed.kind is KeyKind.INTENT:
            intent = observed_intent(body, parsed.number)
            if intent.kind is IntentKind.PLAN:
                self._require_newest(actor, intent.claim, parsed.number, is_late=is_late)
            if intent.kind is IntentKind.ROLLBACK:
                self.rollbacks.append(parsed.number)
            return
        entry = observed_manifest(body, parsed.number)
        record = entry.record
        if record.kind is Kind.COMMIT:
            self._require_newest(actor, record.claim, parsed.number, is_late=is_late)
        if record.kind is Kind.RESET and self.config == self.configs.get(actor.name, 0):
            raise ViolationError(f"I8: {actor.name} resets batches of its own configuration")
        if parsed.number > self.highest_ever:
            self.newest_claim = parsed.number if record.kind in CLAIMS else self.newest_claim
            self.highest_ever, self.config = parsed.number, entry.manifest.pipeline_hash

    def _require_newest(self, actor: Actor, its_claim: int, number: int, *, is_late: bool) -> None:
        # Nobody waits for a late request, so below the newest claim it leaves only garbage.
        counts = number > self.newest_claim or not is_late
        if its_claim < self.newest_claim and counts:
            raise ViolationError(
                f"I4: {actor.name} with claim {its_claim} created number {number} "
                f"after claim {self.newest_claim}"
            )


class Checker:
    """Checks states; what was checked once is not checked again."""

    def __init__(self, bounds: Bounds, checked: set[Any]) -> None:
        self._bounds = bounds
        self._checked = checked

    def check(self, world: World, ghost: Ghost, numbers: list[int]) -> None:
        """Raise ViolationError if an invariant does not hold."""
        key = hash((world.stored(), ghost.fingerprint()))
        if not numbers or key in self._checked:
            return
        self._checked.add(key)
        self._check_held(world.store, ghost)
        found = self._recovered(world.store, ghost, numbers)
        if found is None:
            return
        _check_history(ghost, found, plans_of(world.store, found))
        self._check_lone_writer(world, ghost)

    def _check_held(self, store: ObjectStore, ghost: Ghost) -> None:
        """What a tag or a clone was reported to hold can be read, file by file."""
        context = bare_context(store, self._bounds)
        try:
            for name in ghost.clones:
                begun = of_query(context, name)
                read_files(begun, recover(begun, deep=True).head)
            for name in ghost.tags:
                read_files(context, read_ref(context, find_tag(context, name)).head())
        except HoldfastError as error:
            raise ViolationError(f"I6: what is held is not there: {error}") from error

    def _recovered(self, store: ObjectStore, ghost: Ghost, numbers: list[int]) -> Recovery | None:
        try:
            found = recover(bare_context(store, self._bounds), deep=True)
        except CorruptionError as error:
            if ghost.rollback_is_unreadable():
                return None
            raise ViolationError(f"I5: recovery finds nothing: {error}") from error
        if found.head.lineage.number < max(ghost.superseded, default=0):
            raise ViolationError(f"I5: recovery takes {found.head.number}, which undoes a rollback")
        if not ghost.corrupted and found.head.number != numbers[-1]:
            raise ViolationError(f"I3: the newest manifest is not whole: {found.report.skipped}")
        return found

    def _check_lone_writer(self, world: World, ghost: Ghost) -> None:
        """From here on alone, a new driver claims, runs the next batch and commits it."""
        effects = dict(ghost.effects)
        done: list[Reported] = []
        lone = Driver(
            context=bare_context(world.store.copy(), self._bounds),
            name="lone",
            bounds=replace(self._bounds, deep=True, configs=False, large=False),
            batches=99,
            sink=lambda writer, batch, plan: record_effect(
                effects, writer.head.lineage.number, batch, plan
            ),
            report=done.append,
        )
        try:
            lone.run(stop_after=1)
        except HoldfastError as error:
            raise ViolationError(f"I5: a lone writer cannot go on: {error}") from error
        if not done:
            raise ViolationError("I5: a lone writer committed nothing")


def _check_history(ghost: Ghost, found: Recovery, history: dict[int, str]) -> None:
    current = found.head.lineage.number
    for each in ghost.reported:
        lost = ghost.corrupted and each.number >= min(ghost.corrupted)
        undone = current != each.lineage and current > each.number
        if not lost and not undone and history.get(each.batch) != each.plan:
            raise ViolationError(
                f"I1: batch {each.batch} was reported with plan {each.plan} as checkpoint "
                f"{each.number}, but recovery takes {found.head.number} with {history}"
            )
    for (lineage, batch), plan in ghost.effects.items():
        if lineage == current and history.get(batch, plan) != plan:
            raise ViolationError(
                f"I2: the chain holds batch {batch} with plan {history[batch]}, "
                f"but its sink ran with {plan}"
            )


@lru_cache(maxsize=1 << 14)
def observed_intent(body: bytes, number: int) -> Intent:
    """The onlooker's own reading; the same bytes are seen in schedule after schedule."""
    return decode_intent(body, number=number, query=QUERY)


@lru_cache(maxsize=1 << 14)
def observed_manifest(body: bytes, number: int) -> ChainManifest:
    """As above."""
    return decode_chain_manifest(body, number=number, query=QUERY)


def bare_context(store: ObjectStore, bounds: Bounds) -> Context:
    """For looking on from outside."""
    count = iter(range(1_000_000))
    return Context(
        store=store,
        query=QUERY,
        settings=settings(bounds),
        clock=StillClock(),
        nonces=lambda: f"lone.{next(count)}",
        writer=Writer(host="lone", application="model", pid=1),
    )


def record_effect(effects: dict[tuple[int, int], str], lineage: int, batch: int, plan: str) -> None:
    known = effects.setdefault((lineage, batch), plan)
    if known != plan:
        raise ViolationError(f"I2: batch {batch} reaches its sink with {plan} after {known}")


def plans_of(store: ObjectStore, found: Recovery) -> dict[int, str]:
    """Which plan each committed batch ran with; every file that recovery shows is read, too."""
    bodies = read_files(bare_context(store, Bounds()), found.head)
    plans = {int(batch): plan for batch, plan in found.head.notes.get("plans", {}).items()}
    for path, file in found.head.files.items():
        if len(bodies[path]) != file.size:
            raise ViolationError(f"I6: {path} is not what it was")
    if set(plans) != set(range(found.head.next_batch)):
        raise ViolationError(f"I1: the history has holes: {plans}")
    return plans
