"""The stores of a driver, by name: opened once, and where a path's query is on them."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from holdfast.chain import Chain
from holdfast.objectstore import Meter, ensure_certified, open_store, with_meter

if TYPE_CHECKING:
    from holdfast.clock import Clock
    from holdfast.ids import Writer
    from holdfast.objectstore import ObjectStore
    from holdfast.spark.options import Options


class Stores:
    """Any thread may call it; a store is opened at its first use."""

    def __init__(self, options: Options, writer: Writer, clock: Clock) -> None:
        self.options = options
        self.changes = 0
        self._writer = writer
        self._clock = clock
        self._lock = threading.Lock()
        self._opened: dict[str, ObjectStore] = {}
        self._certified: list[ObjectStore] = []

    def set_options(self, options: Options) -> None:
        """Other settings; a store whose URL or retries have changed is opened again when used."""
        with self._lock:
            old, new = self.options.stores, options.stores
            changed = {name for name in self._opened if old.get(name) != new.get(name)}
            stale = changed if self.options.retry == options.retry else set(self._opened)
            for name in stale:
                del self._opened[name]
            self.changes += bool(changed)
            self.options = options

    def open(self, name: str) -> ObjectStore:
        """The store of this name.

        Raises:
            ConfigError: none is set, or its URL is wrong.
        """
        with self._lock:
            if name not in self._opened:
                url, retry = self.options.url(name), self.options.retry
                self._opened[name] = open_store(url, retry=retry, clock=self._clock)
            return self._opened[name]

    def certified(self, name: str) -> None:
        """Require the store's verdict, once for all queries, or certify it now."""
        store = self.open(name)
        if store not in self._certified:
            ensure_certified(store, clock=self._clock)
            self._certified.append(store)

    def chain(self, store: str, query: str, meter: Meter | None = None) -> Chain:
        """A query's chain; requests are counted by the meter, if one is given."""
        return Chain(
            with_meter(self.open(store), meter or Meter()),
            query,
            settings=self.options.chain,
            clock=self._clock,
            writer=self._writer,
        )

    def root_of(self, store: str, path: str) -> str | None:
        """The query that has this path: the longest prefix that has a checkpoint."""
        segments = path.split("/") if path else []
        for count in range(len(segments), 0, -1):
            root = "/".join(segments[:count])
            if self.chain(store, root).exists():
                return root
        return None
