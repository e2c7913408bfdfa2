"""Everything that the chaos is done to: input, two drivers, executors, MinIO behind a proxy.

The first driver is supervised: whenever it is gone, or its queries have stopped, it starts again.
The second is started at random: while both live, each claims the queries from the other.
"""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING

from tests.chaos.driver import Driver, State
from tests.chaos.stops import why
from tests.spark.databases import rows
from tests.spark.orders import write_orders
from tests.spark.processes import Child

if TYPE_CHECKING:
    import random
    from collections.abc import Callable
    from pathlib import Path

    from tests.chaos.minio import Minio
    from tests.cluster.standalone import Cluster
    from tests.faults.proxy import FaultProxy

ROWS, SKUS = 20, 400
_FEED_SECONDS = 0.8
_BACKLOG_FILES_MAX = 60
_ROCKS = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
_CHANGELOG = "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"
_PROVIDER = "spark.sql.streaming.stateStore.providerClass"
PROVIDERS = {
    "HDFS-backed": {},
    "RocksDB": {_PROVIDER: _ROCKS, _CHANGELOG: "false"},
    "RocksDB with a changelog": {_PROVIDER: _ROCKS, _CHANGELOG: "true"},
}
CONF = {
    "spark.cores.max": "2",
    "spark.executor.cores": "1",
    "spark.executor.memory": "512m",
    "spark.task.maxFailures": "20",
    "spark.sql.shuffle.partitions": "3",
    "spark.sql.streaming.minBatchesToRetain": "5",
    "spark.sql.streaming.stateStore.maintenanceInterval": "5s",
    "spark.holdfast.gate.seconds": "5",
    "spark.holdfast.inlineBytes": "2k",
    "spark.holdfast.largeFileBytes": "3k",
    "spark.holdfast.fullEvery": "8",
    "spark.holdfast.retain": "20",
    "spark.holdfast.hintEvery": "3",
}


class World:
    """What there is, and what has happened to it so far."""

    def __init__(
        self,
        folder: Path,
        *,
        store: str,
        database: str,
        cluster: Cluster,
        minio: Minio,
        proxy: FaultProxy,
        provider: str,
        say: Callable[[str], None],
    ) -> None:
        self.cluster, self.minio, self.proxy, self.say = cluster, minio, proxy, say
        self.machines = list(cluster.workers)
        self.orders, self.database, self.store = folder / "orders", database, store
        self.drivers: list[Driver | None] = [None, None]
        self.happened: Counter[str] = Counter()
        self.stops: Counter[str] = Counter()
        self.defects: list[str] = []
        self.starts = 0
        self._folder, self._conf = folder, {**CONF, **PROVIDERS[provider]}
        self._files, self._fed = 0, 0.0
        self._later: list[tuple[float, Callable[[], None]]] = []

    def tick(self, dice: random.Random) -> None:
        """Let what is due happen: input, ends of faults, and what the drivers have to say."""
        now = time.monotonic()
        if now - self._fed > _FEED_SECONDS:
            self.feed()
        due = [each for each in self._later if each[0] <= now]
        self._later = [each for each in self._later if each[0] > now]
        for _, action in due:
            action()
        for place, driver in enumerate(self.drivers):
            if driver is not None:
                self._listen(place, driver, dice)
        if self.drivers[0] is None:
            self.start(0, dice)

    def feed(self) -> None:
        """One more file, unless many wait: what is left at the end is to be done in a minute."""
        self._fed = time.monotonic()
        newest = rows(self.database, "SELECT COALESCE(MAX(id), 0) FROM orders")[0][0]
        if self._files - newest // 1_000_000 < _BACKLOG_FILES_MAX:
            write_orders(self.orders, files=1, first=self._files, rows=ROWS, skus=SKUS)
            self._files += 1

    def later(self, seconds: float, action: Callable[[], None]) -> None:
        self._later.append((time.monotonic() + seconds, action))

    def start(self, place: int, dice: random.Random) -> None:
        """A new driver, with executors of its own or without."""
        master = dice.choice([self.cluster.master, self.cluster.master, "local[2]"])
        self.starts += 1
        log = self._folder / f"driver-{self.starts:04}.log"
        self.drivers[place] = Driver(log, store=self.store, master=master, conf=self._conf)
        where = "with executors" if master != "local[2]" else "alone"
        self.say(f"driver {self.starts} starts {where}, as {('the first', 'the second')[place]}")

    def drop(self, place: int, *, after_s: float = 0) -> None:
        """Forget a driver; what is left of it ends after a while."""
        driver = self.drivers[place]
        if driver is not None:
            self.drivers[place] = None
            driver.state = State.GONE
            self.later(after_s, driver.bury)

    def heal(self) -> None:
        """Nothing is wrong any more, and no driver is left."""
        self.proxy.script.set()
        for place in range(len(self.drivers)):
            self.drop(place)
        for _, action in self._later:
            action()
        self._later = []
        self.minio.start()

    def finish(self, seconds_max: float) -> None:
        """One more driver takes what is left, to the end."""
        with Child(self._folder / "driver-last.log") as last:
            last.start(self.store, **self._conf)
            call = "tests.chaos.tasks:finish_queries"
            last.send(call, folder=str(self.orders), database=self.database)
            last.answer(seconds_max)

    def _listen(self, place: int, driver: Driver, dice: random.Random) -> None:
        said = driver.poll()
        if said is None:
            return
        if said:
            self._stopped(said)
        if driver.state is State.STOPPED and (not said or self._may_go_on(said, place, dice)):
            driver.run(str(self.orders), self.database)
        else:
            self.drop(place)

    def _stopped(self, said: str) -> None:
        name, is_defect = why(said)
        self.stops[name] += 1
        self.say(f"a query stops: {name}")
        if is_defect:
            self.defects.append(said)
            self.say(said)

    @staticmethod
    def _may_go_on(said: str, place: int, dice: random.Random) -> bool:
        """The first goes on in the same process, mostly; the second was overtaken, mostly."""
        return why(said)[0].endswith("Error") and dice.random() < (0.7, 0.3)[place]
