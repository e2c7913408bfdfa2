"""One run: drivers start, crash and continue; operators, retention and faults come in between."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from holdfast.chain.clone import clone
from holdfast.chain.context import Context
from holdfast.chain.foreign import of_query
from holdfast.chain.refs import tag, untag
from holdfast.chain.remove import remove
from holdfast.chain.retain import Retainer
from holdfast.chain.rollback import reset, rollback
from holdfast.errors import CorruptionError
from holdfast.layout import Kind as KeyKind
from holdfast.objectstore.retrying import RetryingStore
from holdfast.settings import RetrySettings
from tests.model.actors import Driver, Unchanged
from tests.model.bounds import Bounds, settings
from tests.model.explorer import ViolationError
from tests.model.invariants import KEYS, QUERY, Checker, Ghost
from tests.model.world import Actor, Call, ScheduledStore, StillClock, World

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.chain.writer import ChainWriter

TAG = "t"
TAG_OF_TAG = "a"  # sorts before the tag that it is made of
CLONE = "copy"
CLONE_OF_CLONE = "again"
RETRY = RetrySettings(attempts_max=2)
JITTER = random.Random(0)  # no one waits here, and a generator of one's own takes long to make

# What operators do, as `bound: (option, letter)`; options that take a checkpoint end in a number.
OPERATIONS = {
    "rollbacks": ("rollback", "o"),
    "tags": ("tag", "t"),
    "clones": ("clone", "c"),
    "retentions": ("retain", "r"),
    "sweeps": ("sweep", "s"),
    "resets": ("reset", "z"),
    "removals": ("rm", "x"),
    "purges": ("purge", "p"),
    "tags_of_tags": ("tag-of-tag", "a"),
    "untags": ("untag", "g"),
    "clones_of_tags": ("clone-of-tag", "e"),
    "clones_of_clones": ("clone-of-clone", "f"),
    "clone_removals": ("rm-clone", "y"),
}
WITH_TARGET = ("rollback", "tag", "clone")
LETTERS = {"start": "d", **dict(OPERATIONS.values())}


class ChainExecution:
    """The scheduler's choices, and what they do."""

    def __init__(self, bounds: Bounds, checked: set[Any] | None = None) -> None:
        self.bounds = bounds
        self.ghost = Ghost()
        self.world = World(
            lambda actor, key, body, is_late: self.ghost.observe(actor, key, body, is_late=is_late),
            page=bounds.page,
        )
        self.left = {
            "start": bounds.starts,
            "crash": bounds.crashes,
            "lose": bounds.lost_replies,
            "delay": bounds.late,
            "duplicate": bounds.duplicates,
            "corrupt": bounds.corruptions,
            "upkeep": bounds.upkeep,
            **{option: getattr(bounds, bound) for bound, (option, _) in OPERATIONS.items()},
        }
        self.last: Actor | None = None
        self.writers: dict[str, ChainWriter] = {}
        self._checker = Checker(bounds, checked if checked is not None else set())
        self._numbers_at = -1
        self._known_numbers: list[int] = []

    # ---- what the scheduler may do

    def options(self) -> list[tuple[int, str]]:
        found: list[tuple[int, str]] = []
        # Whoever had the turn goes on for nothing; once it has ended, any one may.
        running = self.last is not None and self.last.alive
        for actor in self.world.actors:
            if actor.alive and actor.call is not None:
                found.append(
                    (int(running and actor is not self.last), f"{actor.name}: {actor.call}")
                )
                found += [(1, option) for option in self._faults_of(actor, actor.call)]
        found += [(int(running), option) for option in self._operations()]
        found += [(1, f"deliver {name}") for name in self.world.in_transit]
        return found

    def _faults_of(self, actor: Actor, call: Call) -> list[str]:
        found: list[str] = []
        if call.writes:
            faults = {"lose": "hears nothing of", "delay": "gives up on", "duplicate": "doubles"}
            found += [f"{actor.name} {text}: {call}" for n, text in faults.items() if self.left[n]]
        if self.left["crash"]:
            found.append(f"{actor.name} dies before: {call}")
            if call.writes:
                found.append(f"{actor.name} dies after: {call}")
            found += [f"{actor.name} dies at half {n} of: {call}" for n in range(len(call.halves))]
        return found

    def _operations(self) -> list[str]:
        numbers, ghost = self._numbers(), self.ghost
        alive = [a for a in self.world.actors if a.alive and a.name.startswith("d")]
        # Where one checkpoint is kept, damage to that one is damage that no rule can mend.
        mendable = self.bounds.keep > 1 or self.left["retain"] == self.bounds.retentions
        possible = {
            "start": len(alive) < self.bounds.drivers,
            "corrupt": mendable and len(numbers) > 1 and numbers[-1] not in ghost.corrupted,
            "retain": len(numbers) > self.bounds.keep,
            "sweep": bool(numbers),
            "reset": bool(numbers),
            "rm": bool(numbers),
            "purge": bool(numbers) and not alive,  # what the operator must make sure of
            "untag": TAG in ghost.tags,
            "tag-of-tag": TAG in ghost.tags,
            "clone-of-tag": TAG in ghost.tags,
            "clone-of-clone": CLONE in ghost.clones,
            "rm-clone": CLONE in ghost.clones,
        }
        found = [name for name, is_possible in possible.items() if is_possible and self.left[name]]
        if self.left["upkeep"]:
            found += [f"upkeep {a.name}" for a in alive if a.name in self.writers]
        for name in WITH_TARGET:
            if self.left[name]:
                found += [f"{name} {number}" for number in self._targets(numbers)]
        return found

    def choose(self, option: str) -> None:
        name, _, rest = option.partition(" ")
        if name == "deliver":
            self.world.deliver(rest)
        elif name == "corrupt":
            self.left[name] -= 1
            self._corrupt()
        elif name in self.left:
            self.left[name] -= 1
            self._begin(name, rest)
        else:
            self.last = next(a for a in self.world.actors if a.name == name.rstrip(":"))
            self._advance(self.last, rest)

    def _begin(self, name: str, rest: str) -> None:
        if name == "upkeep":
            writer = self.writers[rest]
            count = sum(1 for actor in self.world.actors if actor.name.startswith("u"))
            self.last = self.world.start(f"u{count + 1}", lambda _: _retain(writer), process=rest)
            return
        operations: dict[str, Callable[[Actor], None]] = {
            "start": self._drive,
            "retain": lambda actor: _retain(Retainer(self._context(actor)), self.bounds.keep),
            "sweep": lambda actor: _retain(Retainer(self._context(actor)), None),
            "rollback": lambda actor: self._roll_back(actor, int(rest)),
            "reset": self._reset,
            "rm": lambda actor: self._remove(actor, purge=False),
            "purge": lambda actor: self._remove(actor, purge=True),
            "tag": lambda actor: self._tag(actor, TAG, int(rest)),
            "tag-of-tag": lambda actor: self._tag(actor, TAG_OF_TAG, TAG),
            "untag": self._untag,
            "clone": lambda actor: self._clone(self._context(actor), int(rest), CLONE),
            "clone-of-tag": lambda actor: self._clone(self._context(actor), TAG, CLONE),
            "clone-of-clone": self._clone_of_clone,
            "rm-clone": self._remove_clone,
        }
        letter = LETTERS[name]
        count = sum(1 for actor in self.world.actors if actor.name.startswith(letter))
        self.last = self.world.start(f"{letter}{count + 1}", operations[name])

    def _advance(self, actor: Actor, rest: str) -> None:
        faults = {
            "hears nothing": ("lose", self.world.lose_reply),
            "gives up": ("delay", self.world.delay),
            "doubles": ("duplicate", self.world.duplicate),
        }
        for words, (name, fault) in faults.items():
            if rest.startswith(words):
                self.left[name] -= 1
                fault(actor)
                return
        if rest.startswith("dies at half"):
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

    def check(self) -> None:
        self._checker.check(self.world, self.ghost, self._numbers())

    def close(self) -> None:
        self.world.close()

    # ---- the actors

    def _context(self, actor: Actor) -> Context:
        scheduled = ScheduledStore(self.world)
        return Context(
            store=RetryingStore(scheduled, settings=RETRY, clock=StillClock(), jitter=JITTER),
            query=QUERY,
            settings=settings(self.bounds, len(self.world.actors)),
            clock=StillClock(),
            nonces=actor.nonce,
            writer=actor.writer,
        )

    def _drive(self, actor: Actor) -> None:
        is_first = self.left["start"] + 1 == self.bounds.starts
        self.ghost.configs[actor.name] = config = 1 if is_first else 2
        driver = Driver(
            context=self._context(actor),
            name=actor.name,
            bounds=self.bounds,
            batches=self.bounds.batches,
            config=config if self.bounds.configs else 1,
            sink=self._sink,
            report=self.ghost.reported.append,
            on_claim=lambda writer: self.writers.__setitem__(actor.name, writer),
        )
        try:
            driver.run()
        except CorruptionError as error:
            if not self.ghost.corrupted:
                raise ViolationError(
                    f"I5: {actor.name} finds nothing to go on from: {error}"
                ) from error
            raise

    def _sink(self, writer: ChainWriter, batch: int, plan: str) -> None:
        self.world.wait(Call("sink", f"batch {batch}", lambda: None, writes=False))
        self.ghost.sink(writer, batch, plan)

    def _roll_back(self, actor: Actor, number: int) -> None:
        self.ghost.superseded.append(rollback(self._context(actor), number).number)

    def _reset(self, actor: Actor) -> None:
        done = reset(self._context(actor), f"before-{actor.name}")
        assert done is not None
        self.ghost.superseded.append(done.number)

    def _remove(self, actor: Actor, *, purge: bool) -> None:
        self.ghost.removal_begins(TAG, TAG_OF_TAG)
        try:
            self.ghost.superseded.append(remove(self._context(actor), purge=purge))
        finally:
            self.ghost.removal_ends(TAG, TAG_OF_TAG)

    def _remove_clone(self, actor: Actor) -> None:
        self.ghost.removal_begins(CLONE)
        try:
            remove(of_query(self._context(actor), CLONE))
        finally:
            self.ghost.removal_ends(CLONE)

    def _tag(self, actor: Actor, name: str, target: int | str) -> None:
        watched = self.ghost.watch(name)
        tag(self._context(actor), name, target)
        if self.ghost.is_undisturbed(name, watched):
            self.ghost.tags.add(name)

    def _untag(self, actor: Actor) -> None:
        self.ghost.removal_begins(TAG)
        try:
            untag(self._context(actor), TAG)
        finally:
            self.ghost.removal_ends(TAG)

    def _clone(self, context: Context, target: int | str, name: str) -> None:
        watched = self.ghost.watch(name)
        clone(context, target, name, rewrite=Unchanged())
        if self.ghost.is_undisturbed(name, watched):
            self.ghost.clones.add(name)

    def _clone_of_clone(self, actor: Actor) -> None:
        context = of_query(self._context(actor), CLONE)
        self._clone(context, 1, CLONE_OF_CLONE)

    # ---- what is there

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


def _retain(retainer: Retainer | ChainWriter, *keep: int | None) -> None:
    if isinstance(retainer, Retainer):
        retainer.run(*keep)
    else:
        retainer.retain()
