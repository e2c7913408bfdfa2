"""The job that a cluster runs in these tests: a count into a database, and what must come out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import holdfast
from tests.machines import HERE, Machine
from tests.spark.orders import counts_by_sku
from tests.spark.queries import make_tables, read_counts, read_doubled

if TYPE_CHECKING:
    from pathlib import Path

LOCATION = "holdfast:///orders"
CONF = {
    "spark.executor.memory": "512m",
    "spark.executor.cores": "1",
    "spark.sql.shuffle.partitions": "4",
    "spark.task.maxFailures": "20",
    "spark.excludeOnFailure.enabled": "false",
}
ROCKS = {
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.holdfast.largeFileBytes": "500",
}
SPECULATION = {
    "spark.speculation": "true",
    "spark.speculation.multiplier": "1.1",
    "spark.speculation.quantile": "0.5",
    "spark.speculation.minTaskRuntime": "50ms",
}


class Job:
    """The count on a cluster, its input and its sink; `near` is a machine that has the store."""

    def __init__(self, tmp_path: Path, store: str, *, near: Machine = HERE) -> None:
        self.folder, self.database = tmp_path / "orders", str(tmp_path / "sink.db")
        self.store, self._near = store, near
        make_tables(self.database)

    @property
    def args(self) -> dict[str, Any]:
        return {"folder": str(self.folder), "database": self.database, "location": LOCATION}

    def require_exact(self) -> None:
        """Nothing lost, nothing twice, and every retained checkpoint is whole."""
        assert read_counts(self.database) == counts_by_sku(self.folder)
        assert read_doubled(self.database) == []
        self._near.inside(self._require_whole)

    def _require_whole(self) -> None:
        chain = self.chain()
        for each in chain.history():
            verdict = chain.validate(each.number)
            assert verdict.valid, verdict

    def chain(self) -> holdfast.Chain:
        return holdfast.Chain(holdfast.open_store(self.store), "orders")
