"""What a query asks of its store, step by step: the columns of the fault matrix.

Each step is the requests of one kind that a fault can hit, the settings that make a small query
send them, and whether they are sent at a start or in a running batch.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from tests.faults.rules import Act, Rule

if TYPE_CHECKING:
    from collections.abc import Mapping

PLAIN = {"spark.holdfast.hintEvery": "0"}
PACKS = {**PLAIN, "spark.holdfast.inlineBytes": "0"}
LARGE = {**PLAIN, "spark.holdfast.largeFileBytes": "2000"}
UPKEEP = {
    "spark.holdfast.hintEvery": "1",
    "spark.holdfast.fullEvery": "2",
    "spark.holdfast.retain": "2",
}
# What every group sets, so that none inherits from another.
DEFAULTS = {
    "spark.holdfast.hintEvery": "10",
    "spark.holdfast.inlineBytes": "64k",
    "spark.holdfast.largeFileBytes": "1m",
    "spark.holdfast.fullEvery": "64",
    "spark.holdfast.retain": "100",
}

# A try is given up after READ_TIMEOUT_S: longer than what is slow, shorter than half-open. The gate
# is given up after GATE_SECONDS, when a try that was given up has been followed by another one.
READ_TIMEOUT_S = 2
GATE_SECONDS = 4
_SECONDS = {Act.SLOW: 0.7, Act.HALF_OPEN: READ_TIMEOUT_S + 1.0, Act.LATE: 1.5}


class Phase(Enum):
    """When the fault begins: before a start, or when the query runs."""

    START = "start"
    BATCH = "batch"


class Span(Enum):
    """How long it lasts: one request, or every one until the query stops or is stopped."""

    ONCE = "once"
    ALWAYS = "always"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One column: requests by verb and key below the query's root."""

    name: str
    verb: str
    key: str
    phase: Phase = Phase.BATCH
    conf: Mapping[str, str] = field(default_factory=lambda: PLAIN, compare=False)

    @property
    def is_upkeep(self) -> bool:
        """Whether no batch waits for it."""
        return self.conf is UPKEEP

    @property
    def rows(self) -> dict[str, int]:
        """How the input is made: large files need large state."""
        return {"rows": 400, "skus": 2000} if self.conf is LARGE else {}

    def rule(self, act: Act, span: Span, query: str) -> Rule:
        return Rule(
            act=act,
            verb=self.verb,
            key=rf"/{query}/{self.key}",
            nth=1 if span is Span.ONCE else 0,
            seconds=_SECONDS.get(act, 1.0),
        )


_RECORDS = r"(intents/intent|manifests/manifest)-\d+"
STEPS = (
    Step(name="claim: list", verb="list", key="(intents|manifests)/", phase=Phase.START),
    Step(name="claim: read", verb="get", key=_RECORDS, phase=Phase.START),
    Step(name="claim: write", verb="put", key=_RECORDS, phase=Phase.START),
    Step(name="intent", verb="put", key="intents/"),
    Step(name="pack", verb="put", key="checkpoints/state-", conf=PACKS),
    Step(
        name="pack: read",
        verb="get",
        key="checkpoints/state-",
        phase=Phase.START,
        conf=PACKS,
    ),
    Step(name="manifest", verb="put", key=r"manifests/manifest-\d+"),
    Step(name="large file: upload", verb="put", key="checkpoints/files/", conf=LARGE),
    Step(
        name="large file: download",
        verb="get",
        key="checkpoints/files/",
        phase=Phase.START,
        conf=LARGE,
    ),
    Step(name="hint", verb="put", key="manifests/latest", conf=UPKEEP),
    Step(name="prune: list", verb="list", key="", conf=UPKEEP),
    Step(name="prune: delete", verb="delete", key="", conf=UPKEEP),
    Step(name="prune: tombstone", verb="put", key="manifests/manifest-000001", conf=UPKEEP),
)


def applies(act: Act, step: Step) -> bool:
    """Whether there is such a fault in this step: only a list can be stale."""
    return act is not Act.STALE_LIST or step.verb == "list"


def sample() -> list[tuple[Act, Step]]:
    """Every rule once and every step at least once: what is run with every change."""
    acts, pairs = list(Act), []
    for place in range(max(len(acts), len(STEPS))):
        act = acts[place % len(acts)]
        turn = [STEPS[(place + skip) % len(STEPS)] for skip in range(len(STEPS))]
        pairs.append((act, next(step for step in turn if applies(act, step))))
    return pairs
