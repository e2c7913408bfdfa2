"""What must be true when the chaos is over, and how it is told."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import holdfast
from tests.chaos.tasks import QUERIES
from tests.spark.databases import rows
from tests.spark.orders import all_orders, counts_by_sku
from tests.spark.queries import read_counts, read_doubled, read_orders

if TYPE_CHECKING:
    from tests.chaos.world import World


@dataclass(slots=True, kw_only=True)
class Verdict:
    """What was found; all is well where there are no problems."""

    orders: int = 0
    batches: int = 0
    checkpoints: int = 0
    problems: list[str] = field(default_factory=list)


def judge(world: World, store: str) -> Verdict:
    """Every order once, the counts of the batch computation, every retained checkpoint whole."""
    orders = [int(str(order["id"])) for order in all_orders(world.orders)]
    defects = [f"a defect: {text[-500:]}" for text in world.defects]  # the cause is told last
    verdict = Verdict(orders=len(orders), problems=defects)
    found = read_orders(world.database)
    if found != orders:
        once = set(found)
        lost, more = len(set(orders) - once), len(found) - len(once)
        verdict.problems.append(f"of {len(orders)} orders {lost} are lost, {more} there again")
    if read_counts(world.database) != counts_by_sku(world.orders):
        verdict.problems.append("the counts are not those of the batch computation")
    if doubled := read_doubled(world.database):
        verdict.problems.append(f"in the sink twice: {doubled[:3]}")
    verdict.batches = committed(world.database)
    for name in QUERIES:
        _validate(store, name, verdict)
    return verdict


def committed(database: str) -> int:
    """How many batches the sink has, of both queries."""
    return int(rows(database, "SELECT COUNT(*) FROM holdfast_ledger")[0][0])


def _validate(store: str, name: str, verdict: Verdict) -> None:
    chain = holdfast.Chain(holdfast.open_store(store), name)
    retained = chain.history()
    verdict.checkpoints += len(retained)
    for each in retained:
        outcome = chain.validate(each.number)
        if not outcome.valid:
            verdict.problems.append(f"{name}, checkpoint {each.number}: {outcome.issues[0]}")


def summary(world: World, verdict: Verdict, minutes: float, seed: int) -> str:
    """For people, and for tests/README.md."""
    events = ", ".join(f"{number} {kind}" for kind, number in world.happened.most_common())
    stops = ", ".join(f"{number} {name}" for name, number in world.stops.most_common())
    lines = [
        f"{minutes:g} minutes of chaos, seed {seed}",
        f"  events       {sum(world.happened.values())}: {events}",
        f"  drivers      {world.starts} started",
        f"  stops        {sum(world.stops.values())}: {stops}",
        f"  fencings     {world.stops['FencedError']}",
        f"  batches      {verdict.batches:,} of two queries, each in the sink once",
        f"  orders       {verdict.orders:,}",
        f"  checkpoints  {verdict.checkpoints} retained, all of them validated",
        *(f"  WRONG        {problem}" for problem in verdict.problems),
        "  nothing lost, nothing twice" if not verdict.problems else "  NOT as it must be",
    ]
    return "\n".join(lines)
