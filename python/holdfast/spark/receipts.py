"""Receipts: which batch, of which query, under which plan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.errors import CorruptionError

if TYPE_CHECKING:
    from holdfast.spark.run import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What a sink keeps of a batch; after a rollback, `lineage`, batches count anew."""

    query: str
    sink: str
    lineage: int
    batch: int
    plan: str

    @classmethod
    def of(cls, run: Run, batch: int, sink: str) -> Receipt:
        return cls(
            query=run.query,
            sink=sink,
            lineage=run.parts.writer.head.lineage.number,
            batch=batch,
            plan=run.plan_digest(batch),
        )

    def require_same_plan(self, stored: str) -> None:
        """What the sink has under this key was written from the same plan.

        Raises:
            CorruptionError: it was not, so neither skipping nor writing would be right.
        """
        if stored != self.plan:
            raise CorruptionError(
                "the sink has this batch already, written from another plan",
                hint="was the checkpoint replaced by hand, or another store's query of this name "
                "run into this sink? `holdfast show` has the plan of each batch",
                query=self.query,
                lineage=self.lineage,
                batch=self.batch,
            )
