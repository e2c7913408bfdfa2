"""What every step of the protocol needs: a store, a query, and time, names and limits."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

from holdfast.clock import SYSTEM_CLOCK, Clock, Deadline
from holdfast.ids import Nonces, Writer, random_nonce
from holdfast.layout import Keys, query_of_path, query_path
from holdfast.objectstore.base import within
from holdfast.objectstore.retrying import READ_BACK_SECONDS
from holdfast.settings import GATE_SETTING, ChainSettings

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.objectstore import ObjectStore

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """One query's chain on one store, seen by one writer.

    A query has one name: "/orders/" is "orders".
    In a context with a deadline, `store` keeps to it, and `unlimited` does not.
    """

    store: ObjectStore
    query: str
    keys: Keys = field(init=False)
    settings: ChainSettings = field(default_factory=ChainSettings)
    clock: Clock = SYSTEM_CLOCK
    nonces: Nonces = random_nonce
    writer: Writer = field(default_factory=Writer.here)
    deadline: Deadline | None = None
    unlimited: ObjectStore | None = None

    def __post_init__(self) -> None:
        path = query_path(self.query)
        object.__setattr__(self, "query", query_of_path(path))
        object.__setattr__(self, "keys", Keys(f"{path}/"))

    def with_deadline(self) -> Context:
        """For one gate or one claim: the same chain, all requests of which share one deadline.

        It is `gate_seconds` from now. A context that has a deadline keeps it.
        """
        if self.unlimited is not None:
            return self
        deadline = Deadline.after(
            self.settings.gate_seconds, clock=self.clock, setting=GATE_SETTING
        )
        return replace(
            self, store=within(self.store, deadline), deadline=deadline, unlimited=self.store
        )

    def off_the_clock(self, function: Callable[[T], R]) -> Callable[[T], R]:
        """The same function, the time of which does not count for the deadline."""
        deadline = self.deadline

        def call(argument: T) -> R:
            if deadline is None:
                return function(argument)
            with deadline.paused():
                return function(argument)

        return call

    def with_grace(self) -> Context:
        """For reading what a write came to: `READ_BACK_SECONDS` beyond the deadline."""
        if self.deadline is None or self.unlimited is None:
            return self
        grace = self.deadline.extended(READ_BACK_SECONDS)
        return replace(self, store=within(self.unlimited, grace), deadline=grace)

    def without_deadline(self) -> Context:
        """For what outlives a gate or a claim: each request has a time limit of its own."""
        if self.unlimited is None:
            return self
        return replace(self, store=self.unlimited, deadline=None, unlimited=None)

    def key_of(self, relative: str) -> str:
        """The store's key for one that a manifest names.

        A leading "/" means that it is relative to the store, because another query wrote it.
        """
        return relative[1:] if relative.startswith("/") else f"{self.keys.root}{relative}"

    def relative(self, key: str) -> str:
        """How a manifest of this chain names one of its own keys."""
        return key.removeprefix(self.keys.root)
