"""Drivers, retention and an operator on one chain, and the invariants that must hold for them.

What is checked, at every state of every schedule:
- I1: a batch that was reported as committed is in what recovery takes, with the plan that ran.
- I2: a batch never reaches its sink with two different plans (within one lineage).
- I3: the newest manifest validates, unless something was corrupted.
- I4: once a claim exists, no earlier writer creates an intent or a manifest.
- I5: recovery finds a checkpoint, and one writer alone can always claim and commit.
- I6: whatever a checkpoint, tag or clone needs is there (by I3, and by reading every file): one
  that was reported stays, and is whole.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from holdfast.chain.claim import claim
from holdfast.chain.clone import clone
from holdfast.chain.compose import NewFile
from holdfast.chain.contents import read_files
from holdfast.chain.context import Context
from holdfast.chain.foreign import of_query
from holdfast.chain.recover import Recovery, recover
from holdfast.chain.refs import read_ref, tag
from holdfast.chain.retain import Retainer
from holdfast.chain.rollback import rollback
from holdfast.errors import CarriedPlanError, CorruptionError, HoldfastError
from holdfast.ids import Writer
from holdfast.layout import Keys
from holdfast.layout import Kind as KeyKind
from holdfast.manifest.intent import Intent, IntentKind, decode_intent
from holdfast.manifest.record import ChainManifest, Kind, decode_chain_manifest
from holdfast.objectstore.retrying import RetryingStore
from holdfast.settings import ChainSettings, RetrySettings
from tests.model.explorer import ViolationError
from tests.model.world import Actor, Call, ScheduledStore, StillClock, World

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.chain.writer import ChainWriter
    from holdfast.manifest.plan import Plan
    from holdfast.objectstore import ObjectStore

QUERY = "q"
TAG = "t"
CLONE = "copy"
KEYS = Keys.of_query(QUERY)
CLAIMS = (Kind.CLAIM, Kind.ROLLBACK)
RETRY = RetrySettings(attempts_max=2)
JITTER = random.Random(0)  # no one waits here, and a generator of one's own takes long to make


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """How much of everything one exploration may use."""

    drivers: int = 2
    starts: int = 2
    batches: int = 2
    crashes: int = 1
    lost_replies: int = 1
    corruptions: int = 0
    rollbacks: int = 0
    retentions: int = 0
    tags: int = 0
    clones: int = 0
    keep: int = 1
    full_every: int = 2
    inline: bool = False
    deep: bool = False
    growing: bool = False


class Unchanged:
    """A clone whose files are all as they were."""

    def wants(self, path: str) -> bool:
        return False

    def rewrite(self, path: str, body: bytes) -> bytes:
        return body


@dataclass
class Ghost:
    """What an observer outside knows, and the protocol does not."""

    effects: dict[tuple[int, int], str] = field(default_factory=dict)
    reported: list[tuple[int, int, str, int]] = field(default_factory=list)
    newest_claim: int = 0
    highest_ever: int = 0
    corrupted: list[int] = field(default_factory=list)
    rolled_back: list[int] = field(default_factory=list)
    rollbacks: list[int] = field(default_factory=list)
    held: list[str] = field(default_factory=list)

    def fingerprint(self) -> Any:
        effects = tuple(sorted(self.effects.items()))
        damage = (tuple(self.corrupted), tuple(self.rolled_back), tuple(self.held))
        return effects, self.newest_claim, tuple(self.reported), damage

    def rollback_is_unreadable(self) -> bool:
        """Then an error is what recovery must give."""
        return bool(self.corrupted and self.rollbacks) and max(self.corrupted) >= min(
            self.rollbacks
        )


class ChainExecution:
    """One run: drivers start, crash and go on; operators and retention come in between."""

    def __init__(self, bounds: Bounds, lone_checked: set[Any] | None = None) -> None:
        self.bounds = bounds
        self.ghost = Ghost()
        self.world = World(self._observe)
        self.left = {
            "start": bounds.starts,
            "crash": bounds.crashes,
            "lose": bounds.lost_replies,
            "corrupt": bounds.corruptions,
            "rollback": bounds.rollbacks,
            "retain": bounds.retentions,
            "tag": bounds.tags,
            "clone": bounds.clones,
        }
        self.last: Actor | None = None
        self._numbers_at = -1
        self._known_numbers: list[int] = []
        self.lone_checked = lone_checked if lone_checked is not None else set()

    # ---- what the scheduler may do

    def options(self) -> list[tuple[int, str]]:
        drivers = [a for a in self.world.actors if a.alive and a.name.startswith("d")]
        found: list[tuple[int, str]] = []
        # Whoever had the turn goes on for nothing; once it has ended, any one may.
        running = self.last is not None and self.last.alive
        for actor in self.world.actors:
            if actor.alive and actor.call is not None:
                found.append(
                    (int(running and actor is not self.last), f"{actor.name}: {actor.call}")
                )
                found += [(1, option) for option in self._faults_of(actor, actor.call)]
        if self.left["start"] and len(drivers) < self.bounds.drivers:
            found.append((int(running), "start"))
        numbers = self._numbers()
        # Where one checkpoint is kept, damage to that one is damage that no rule can mend.
        mendable = self.bounds.keep > 1 or self.left["retain"] == self.bounds.retentions
        fresh = len(numbers) > 1 and numbers[-1] not in self.ghost.corrupted
        if self.left["corrupt"] and mendable and fresh:
            found.append((1, "corrupt"))
        if self.left["retain"] and len(numbers) > self.bounds.keep:
            found.append((int(running), "retain"))
        for name in ("rollback", "tag", "clone"):
            if self.left[name]:
                found += [(int(running), f"{name} {number}") for number in self._targets(numbers)]
        return found

    def _faults_of(self, actor: Actor, call: Call) -> list[str]:
        found: list[str] = []
        if self.left["lose"] and call.writes:
            found.append(f"{actor.name} hears nothing of: {call}")
        if self.left["crash"]:
            found.append(f"{actor.name} dies before: {call}")
            if call.writes:
                found.append(f"{actor.name} dies after: {call}")
            found += [f"{actor.name} dies at half {n} of: {call}" for n in range(len(call.halves))]
        return found

    def choose(self, option: str) -> None:
        name, _, rest = option.partition(" ")
        if name in ("start", "retain", "rollback", "tag", "clone"):
            self.left[name] -= 1
            self._begin(name, rest)
        elif name == "corrupt":
            self.left[name] -= 1
            self._corrupt()
        else:
            self.last = next(a for a in self.world.actors if a.name == name.rstrip(":"))
            self._advance(self.last, rest)

    def _begin(self, name: str, rest: str) -> None:
        count = sum(self.left.values())
        scripts: dict[str, Callable[[Actor], None]] = {
            "start": self._drive,
            "retain": self._retain,
            "rollback": lambda actor: self._roll_back(actor, int(rest)),
            "tag": lambda actor: self._tag(actor, int(rest)),
            "clone": lambda actor: self._clone(actor, int(rest)),
        }
        letter = {"start": "d", "retain": "r", "rollback": "o", "tag": "t", "clone": "c"}[name]
        self.last = self.world.start(f"{letter}{count}", scripts[name])

    def _advance(self, actor: Actor, rest: str) -> None:
        if rest.startswith("hears nothing"):
            self.left["lose"] -= 1
            self.world.lose_reply(actor)
        elif rest.startswith("dies at half"):
            self.left["crash"] -= 1
            self.world.kill(actor, half=int(rest.split()[3]))
        elif rest.startswith("dies"):
            self.left["crash"] -= 1
            self.world.kill(actor, after_effect=rest.startswith("dies after"))
        else:
            self.world.step(actor)

    def _corrupt(self) -> None:
        number = self._numbers()[-1]
        key = KEYS.manifest(number)
        body = bytearray(self.world.store.get(key).body)
        body[len(body) // 2] ^= 1
        self.world.store.put(key, bytes(body))
        self.ghost.corrupted.append(number)

    def fingerprint(self) -> Any:
        left = tuple(self.left.values())
        return self.world.fingerprint(), self.ghost.fingerprint(), left

    def close(self) -> None:
        self.world.close()

    # ---- the actors

    def _context(self, actor: Actor) -> Context:
        scheduled = ScheduledStore(self.world, actor)
        return Context(
            store=RetryingStore(scheduled, settings=RETRY, clock=StillClock(), jitter=JITTER),
            query=QUERY,
            settings=settings(self.bounds),
            clock=StillClock(),
            nonces=actor.nonce,
            writer=actor.writer,
        )

    def _drive(self, actor: Actor) -> None:
        try:
            drive(
                self._context(actor),
                batches=self.bounds.batches,
                name=actor.name,
                sink=lambda lineage, batch, plan: self._sink(actor, lineage, batch, plan),
                report=self.ghost.reported.append,
                bounds=self.bounds,
            )
        except CorruptionError as error:
            if not self.ghost.corrupted:
                raise ViolationError(
                    f"I5: {actor.name} finds nothing to go on from: {error}"
                ) from error
            raise

    def _sink(self, actor: Actor, lineage: int, batch: int, plan: str) -> None:
        self.world.wait(actor, Call("sink", f"batch {batch}", lambda: None, writes=False))
        record_effect(self.ghost.effects, lineage, batch, plan)

    def _retain(self, actor: Actor) -> None:
        Retainer(self._context(actor)).run(self.bounds.keep)

    def _roll_back(self, actor: Actor, number: int) -> None:
        self.ghost.rolled_back.append(rollback(self._context(actor), number).number)

    def _tag(self, actor: Actor, number: int) -> None:
        """Always the same name: who comes second finds it there."""
        self.ghost.held.append(tag(self._context(actor), TAG, number).key)

    def _clone(self, actor: Actor, number: int) -> None:
        clone(self._context(actor), number, CLONE, rewrite=Unchanged())
        self.ghost.held.append(CLONE)

    # ---- what is observed and checked

    def _observe(self, actor: Actor, key: str, body: bytes) -> None:
        """Called when a put takes effect: was its writer allowed to decide anything?"""
        parsed = KEYS.parse(key)
        if parsed is None or parsed.kind not in (KeyKind.MANIFEST, KeyKind.INTENT):
            return
        if parsed.kind is KeyKind.INTENT:
            intent = observed_intent(body, parsed.number)
            if intent.kind is IntentKind.PLAN:
                self._require_newest(actor, intent.claim, key)
            if intent.kind is IntentKind.ROLLBACK:
                self.ghost.rollbacks.append(parsed.number)
            return
        record = observed_manifest(body, parsed.number).record
        if record.kind is Kind.COMMIT:
            self._require_newest(actor, record.claim, key)
        if record.kind in CLAIMS and parsed.number > self.ghost.highest_ever:
            self.ghost.newest_claim = parsed.number
        if record.kind is not Kind.TOMBSTONE:
            self.ghost.highest_ever = max(self.ghost.highest_ever, parsed.number)

    def _require_newest(self, actor: Actor, its_claim: int, key: str) -> None:
        if its_claim < self.ghost.newest_claim:
            raise ViolationError(
                f"I4: {actor.name} with claim {its_claim} created {key} "
                f"after claim {self.ghost.newest_claim}"
            )

    def check(self) -> None:
        numbers = self._numbers()
        if not numbers:
            return
        key = hash((self.world.stored(), self.ghost.fingerprint()))
        if key in self.lone_checked:
            return
        self.lone_checked.add(key)
        self._check_held()
        found = self._recovered(numbers)
        if found is None:
            return
        history = plans_of(self.world.store, found)
        for number, batch, plan, lineage in self.ghost.reported:
            lost = self.ghost.corrupted and number >= min(self.ghost.corrupted)
            undone = found.head.lineage != lineage and found.head.lineage > number
            if not lost and not undone and history.get(batch) != plan:
                raise ViolationError(
                    f"I1: batch {batch} was reported with plan {plan} as checkpoint {number}, "
                    f"but recovery takes {found.head.number} with {history}"
                )
        for (lineage, batch), plan in self.ghost.effects.items():
            if lineage == found.head.lineage and history.get(batch, plan) != plan:
                raise ViolationError(
                    f"I2: the chain holds batch {batch} with plan {history[batch]}, "
                    f"but its sink ran with {plan}"
                )
        self._check_lone_writer()

    def _check_held(self) -> None:
        """What a tag or a clone was reported to hold can be read, file by file."""
        if not self.ghost.held:
            return
        context = bare_context(self.world.store, self.bounds)
        try:
            for name in set(self.ghost.held):
                if name == CLONE:
                    begun = of_query(context, CLONE)
                    read_files(begun, recover(begun, deep=True).head)
                else:
                    read_files(context, read_ref(context, name).head())
        except HoldfastError as error:
            raise ViolationError(f"I6: what is held is not there: {error}") from error

    def _recovered(self, numbers: list[int]) -> Recovery | None:
        context = bare_context(self.world.store, self.bounds)
        try:
            found = recover(context, deep=True)
        except CorruptionError as error:
            if self.ghost.rollback_is_unreadable():
                return None
            raise ViolationError(f"I5: recovery finds nothing: {error}") from error
        if found.head.lineage < max(self.ghost.rolled_back, default=0):
            raise ViolationError(f"I5: recovery takes {found.head.number}, which undoes a rollback")
        if not self.ghost.corrupted and found.head.number != numbers[-1]:
            raise ViolationError(f"I3: the newest manifest is not whole: {found.report.skipped}")
        return found

    def _check_lone_writer(self) -> None:
        """From here on alone, a new driver claims, runs the next batch and commits it."""
        store = self.world.store.copy()
        effects = dict(self.ghost.effects)
        done: list[Any] = []
        context = bare_context(store, self.bounds)
        try:
            drive(
                context,
                batches=99,
                name="lone",
                sink=partial(record_effect, effects),
                report=done.append,
                bounds=replace(self.bounds, deep=True),
                stop_after=1,
            )
        except HoldfastError as error:
            raise ViolationError(f"I5: a lone writer cannot go on: {error}") from error
        if not done:
            raise ViolationError("I5: a lone writer committed nothing")

    def _numbers(self) -> list[int]:
        """Manifests that are no tombstones."""
        if self._numbers_at != self.world.store.changes:
            parsed = {key: KEYS.parse(key) for key, _ in self.world.stored()}
            self._known_numbers = sorted(
                found.number
                for key, found in parsed.items()
                if found is not None
                and found.kind is KeyKind.MANIFEST
                and b'"kind":"tombstone"' not in self.world.store.get(key).body
            )
            self._numbers_at = self.world.store.changes
        return self._known_numbers

    def _targets(self, numbers: list[int]) -> list[int]:
        """Checkpoints that a rollback could be about: valid, and not the newest state."""
        return [n for n in numbers[:-1] if n not in self.ghost.corrupted][-2:]


@lru_cache(maxsize=1 << 14)
def observed_intent(body: bytes, number: int) -> Intent:
    """The onlooker's own reading; the same bytes are seen in schedule after schedule."""
    return decode_intent(body, number=number, query=QUERY)


@lru_cache(maxsize=1 << 14)
def observed_manifest(body: bytes, number: int) -> ChainManifest:
    """As above."""
    return decode_chain_manifest(body, number=number, query=QUERY)


@lru_cache
def settings(bounds: Bounds) -> ChainSettings:
    """Packs are all inline, all outside, or as they grow first the one and then the other."""
    return ChainSettings(
        retain=bounds.keep,
        full_every=bounds.full_every,
        # One small batch fits inline, the two that a claim carries do not, nor does a large one.
        inline_bytes_max=1 << 20 if bounds.inline else 180 if bounds.growing else 0,
        hint_every=0,
        claim_attempts_max=3,
        relist_max=4,
        parallel=1,
    )


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


def drive(
    context: Context,
    *,
    batches: int,
    name: str,
    sink: Callable[[int, int, str], None],
    report: Callable[[tuple[int, int, str, int]], None],
    bounds: Bounds,
    stop_after: int = 99,
) -> None:
    """A driver as Spark is one: run the plan that a start shows, then plan batch after batch.

    Where an earlier run has planned a batch, it starts again in the same process.
    """
    for attempt in range(max(1, batches)):
        writer = claim(context, read=partial(recover, deep=bounds.deep))
        shown = writer.head.shown_plan
        try:
            for _ in range(stop_after):
                if writer.head.next_batch >= batches:
                    return
                _run_batch(writer, shown, f"{name}{attempt}", sink, report, bounds)
                shown = None
        except CarriedPlanError:
            continue
        return


def _run_batch(
    writer: ChainWriter,
    shown: Plan | None,
    name: str,
    sink: Callable[[int, int, str], None],
    report: Callable[[tuple[int, int, str, int]], None],
    bounds: Bounds,
) -> None:
    head = writer.head
    batch, lineage = head.next_batch, head.lineage
    if shown is None:
        plan = f"{name}/{head.claim}/{batch}"
        offsets = NewFile(path=f"offsets/{batch}", mtime_ms=1, body=plan.encode())
        writer.intent(batch, [offsets])
    else:
        plan = shown.contents()[f"offsets/{batch}"].decode()
    sink(lineage, batch, plan)
    # What the history is can be read off the notes; the files come and go, as Spark's do.
    filler = random.Random(batch).randbytes((60 if batch < 2 else 400) if bounds.growing else 1)
    state = NewFile(path=f"state/{batch}", mtime_ms=1, body=plan.encode() + filler)
    old = batch - (2 if bounds.growing else 1)
    gone = [f"offsets/{old}", f"state/{old}"] if old >= 0 else []
    notes = {"plans": {**head.notes.get("plans", {}), str(batch): plan}}
    committed = writer.commit(batch, [state], removed=gone, notes=notes)
    report((committed.number, batch, plan, lineage))


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
