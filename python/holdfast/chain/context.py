"""What every step of the protocol needs: a store, a query, and time, names and limits."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from holdfast.clock import SYSTEM_CLOCK, Clock
from holdfast.ids import Nonces, Writer, random_nonce
from holdfast.layout import Keys, query_of_path, query_path
from holdfast.settings import ChainSettings

if TYPE_CHECKING:
    from holdfast.objectstore import ObjectStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """One query's chain on one store, seen by one writer.

    A query has one name: "/orders/" is "orders".
    """

    store: ObjectStore
    query: str
    keys: Keys = field(init=False)
    settings: ChainSettings = field(default_factory=ChainSettings)
    clock: Clock = SYSTEM_CLOCK
    nonces: Nonces = random_nonce
    writer: Writer = field(default_factory=Writer.here)

    def __post_init__(self) -> None:
        path = query_path(self.query)
        object.__setattr__(self, "query", query_of_path(path))
        object.__setattr__(self, "keys", Keys(f"{path}/"))

    def key_of(self, relative: str) -> str:
        """The store's key for one that a manifest names.

        A leading "/" means that it is relative to the store, because another query wrote it.
        """
        return relative[1:] if relative.startswith("/") else f"{self.keys.root}{relative}"

    def relative(self, key: str) -> str:
        """How a manifest of this chain names one of its own keys."""
        return key.removeprefix(self.keys.root)
