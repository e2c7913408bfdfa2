"""One execution: actors that run the real chain code, stopped at each of their store calls.

Every actor is a greenlet. A store call hands control to the scheduler, which decides whether and
when it takes effect, once or twice, whether its reply arrives, and whether the actor lives on. The
same choices always give the same execution, so a list of choices replays one.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import greenlet

from holdfast.errors import HoldfastError, UnavailableError
from holdfast.ids import Writer
from holdfast.objectstore import Blob, MemoryStore, ObjectMeta, Page, Presigned, PutMode
from holdfast.settings import LIST_PAGE_MAX

if TYPE_CHECKING:
    from collections.abc import Callable


class KilledError(BaseException):
    """The process is gone: no handler of ours may run store calls any more."""


class StillClock:
    """Time stands still, so that equal histories give equal bytes."""

    def now_ms(self) -> int:
        return 1_700_000_000_000

    def monotonic(self) -> float:
        return 0.0

    def sleep(self, seconds: float) -> None:
        """Waiting changes nothing here."""


@dataclass(frozen=True, slots=True)
class Call:
    """A store call that waits for the scheduler."""

    verb: str
    key: str
    perform: Callable[[], Any]
    writes: bool
    halves: tuple[Callable[[], Any], ...] = ()
    late: Callable[[], Any] | None = None

    def __str__(self) -> str:
        return f"{self.verb} {self.key.removeprefix('q/')}"


@dataclass(eq=False)
class Actor:
    """A thread: its greenlet, the call it waits at, and a digest of all it has seen.

    Threads of one process die together.
    """

    name: str
    process: str
    thread: greenlet.greenlet = field(init=False)
    call: Call | None = None
    seen: int = 0
    alive: bool = True
    count: int = 0

    def nonce(self) -> str:
        """Fresh and the same in every execution."""
        self.count += 1
        return f"{self.name}.{self.count}"

    @property
    def writer(self) -> Writer:
        return Writer(host=self.name, application="model", pid=1)


class ScheduledStore:
    """The shared store as actors see it: each verb waits for its caller's turn."""

    url = "memory:"
    can_presign = False

    def __init__(self, world: World) -> None:
        self._world = world

    def put(self, key: str, body: Any, *, mode: PutMode = PutMode.OVERWRITE) -> ObjectMeta:
        world, data = self._world, bytes(body)
        actor = world.current()

        def perform(*, is_late: bool = False) -> ObjectMeta:
            meta = world.store.put(key, data, mode=mode)
            world.on_put(actor, key, data, is_late)
            return meta

        verb, late = f"put {mode.kind}", partial(perform, is_late=True)
        return world.wait(Call(verb, key, perform, writes=True, late=late))  # type: ignore[no-any-return]

    def get(self, key: str, *, start: int = 0, length: int | None = None) -> Blob:
        return self._turn("get", key, lambda: self._world.store.get(key))  # type: ignore[no-any-return]

    def head(self, key: str) -> ObjectMeta:
        return self._turn("head", key, lambda: self._world.store.head(key))  # type: ignore[no-any-return]

    def list(self, prefix: str = "", *, start_after: str = "", limit: int = LIST_PAGE_MAX) -> Page:
        size = min(limit, self._world.page)
        return self._turn(  # type: ignore[no-any-return]
            "list",
            prefix + (f" after {start_after}" if start_after else ""),
            lambda: self._world.store.list(prefix, start_after=start_after, limit=size),
        )

    def delete(self, keys: Any) -> None:
        wanted = sorted(keys)
        if wanted:
            store, middle = self._world.store, len(wanted) // 2
            parts = (wanted[:middle], wanted[middle:]) if middle else ()
            halves = tuple(partial(store.delete, part) for part in parts)
            delete = partial(store.delete, wanted)
            call = Call("delete", " ".join(wanted), delete, writes=True, halves=halves, late=delete)
            self._world.wait(call)

    def presign(
        self, method: Literal["GET", "PUT"], key: str, *, expires_s: int = 300, sha256: str = ""
    ) -> Presigned:
        raise NotImplementedError

    def _turn(self, verb: str, key: str, perform: Callable[[], Any]) -> Any:
        return self._world.wait(Call(verb, key, perform, writes=False))


class CountingStore(MemoryStore):
    """Knows how often it was changed, so that nothing is looked up twice."""

    def __init__(self) -> None:
        super().__init__(clock=StillClock())
        self.changes = 0

    def copy(self) -> CountingStore:
        """The same objects in a store of its own; bodies never change, so they are shared."""
        twin = CountingStore()
        twin._blobs, twin._keys = dict(self._blobs), list(self._keys)
        return twin

    def put(self, key: str, body: Any, *, mode: PutMode = PutMode.OVERWRITE) -> ObjectMeta:
        meta = super().put(key, body, mode=mode)
        self.changes += 1
        return meta

    def delete(self, keys: Any) -> None:
        super().delete(keys)
        self.changes += 1


class World:
    """The store, the actors on it, and what the scheduler may do next."""

    def __init__(
        self, on_put: Callable[[Actor, str, bytes, bool], None], *, page: int = LIST_PAGE_MAX
    ) -> None:
        self.store = CountingStore()
        self.page = page
        self._stored: tuple[int, tuple[tuple[str, str], ...]] = (-1, ())
        self.actors: list[Actor] = []
        self.in_transit: dict[str, Call] = {}
        self._sent = 0
        self.on_put = on_put
        self._scheduler = greenlet.getcurrent()

    def start(
        self, name: str, script: Callable[[Actor], None], *, process: str | None = None
    ) -> Actor:
        """A new process, or a thread of one; it runs up to its first store call."""
        actor = Actor(name, process or name)

        def run() -> None:
            try:
                script(actor)
            except HoldfastError as error:
                actor.seen = hash((actor.seen, type(error).__name__))
            except KilledError:
                pass
            actor.alive = False
            actor.call = None

        actor.thread = greenlet.greenlet(run, self._scheduler)
        self.actors.append(actor)
        actor.thread.switch()
        return actor

    def current(self) -> Actor:
        """The actor that runs now."""
        thread = greenlet.getcurrent()
        return next(actor for actor in reversed(self.actors) if actor.thread is thread)

    def wait(self, call: Call) -> Any:
        """Hand over to the scheduler until it is the caller's turn, or its end."""
        actor = self.current()
        if not actor.alive:
            raise KilledError
        actor.call = call
        return self._scheduler.switch()

    def step(self, actor: Actor) -> None:
        """The call takes effect and its reply arrives."""
        call = self._take(actor)
        try:
            result = call.perform()
        except HoldfastError as error:
            actor.seen = hash((actor.seen, call.verb, call.key, type(error).__name__))
            actor.thread.throw(error)
        else:
            actor.seen = hash((actor.seen, call.verb, call.key, _digest(result)))
            actor.thread.switch(result)

    def lose_reply(self, actor: Actor) -> None:
        """The call takes effect, and the actor hears nothing."""
        call = self._take(actor)
        with contextlib.suppress(HoldfastError):
            call.perform()
        actor.seen = hash((actor.seen, call.verb, call.key, "lost"))
        actor.thread.throw(UnavailableError("the reply was lost"))

    def delay(self, actor: Actor) -> None:
        """The actor hears nothing, and the call takes effect at some later time, or never."""
        call = self._take(actor)
        self._send(call)
        actor.seen = hash((actor.seen, call.verb, call.key, "delayed"))
        actor.thread.throw(UnavailableError("the request is on its way"))

    def duplicate(self, actor: Actor) -> None:
        """The call takes effect, its reply arrives, and it takes effect once more, later."""
        assert actor.call is not None
        self._send(actor.call)
        self.step(actor)

    def deliver(self, name: str) -> None:
        """A request that was on its way takes effect."""
        call = self.in_transit.pop(name)
        assert call.late is not None
        with contextlib.suppress(HoldfastError):
            call.late()

    def _send(self, call: Call) -> None:
        self._sent += 1
        self.in_transit[f"{self._sent}: {call}"] = call

    def kill(self, actor: Actor, *, after_effect: bool = False, half: int | None = None) -> None:
        """The process ends at this call, before or after it takes effect, or half of it does."""
        call = self._take(actor)
        if half is not None:
            call.halves[half]()
        elif after_effect:
            with contextlib.suppress(HoldfastError):
                call.perform()
        for thread in self.actors:
            if thread.process == actor.process and thread.alive:
                thread.alive = False
                thread.call = None
                thread.thread.throw(KilledError())

    def close(self) -> None:
        """End every process that is left: one that waits for ever is never freed."""
        for actor in self.actors:
            actor.alive = False
            if not actor.thread.dead:
                actor.thread.throw(KilledError())

    def fingerprint(self) -> tuple[Any, ...]:
        """Equal for executions that cannot differ from here on."""
        threads = tuple((a.name, a.seen, a.alive, str(a.call)) for a in self.actors)
        return self.stored(), threads, tuple(self.in_transit)

    def stored(self) -> tuple[tuple[str, str], ...]:
        """Every object that is there, by key and version."""
        if self._stored[0] != self.store.changes:
            objects = self.store.list(limit=10_000).objects
            self._stored = (self.store.changes, tuple((m.key, m.etag) for m in objects))
        return self._stored[1]

    @staticmethod
    def _take(actor: Actor) -> Call:
        call = actor.call
        assert call is not None
        actor.call = None
        return call


def _digest(result: Any) -> Any:
    if isinstance(result, Page):
        return tuple((meta.key, meta.etag) for meta in result.objects)
    if isinstance(result, Blob):
        return result.meta.etag
    return getattr(result, "etag", None)
