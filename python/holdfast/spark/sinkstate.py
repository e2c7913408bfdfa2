"""What is known of a query's sinks, batch by batch: planned, run, proven."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from holdfast.manifest import Facts, SinkCommitStatus

_DEFAULT = "sink"


class Outcome(Enum):
    """How sure one can be that a batch reached its sink once."""

    PROVEN = "proven"  # a receipt is in the sink, written in the same transaction
    REPLAYED = "replayed"  # it had the receipt already, so the sink was not run again
    UNKNOWN = "unknown"  # nothing in the sink tells; it may have been run before


@dataclass(slots=True, kw_only=True)
class SinkBatch:
    """One sink in one batch."""

    outcome: Outcome = Outcome.UNKNOWN
    failure: str = ""


@dataclass(slots=True)
class Sinks:
    """The sinks that have told of themselves; one that never does is called `sink`."""

    lineage: int = 0
    names: set[str] = field(default_factory=set)
    _batches: dict[int, dict[str, SinkBatch]] = field(default_factory=dict)

    def of(self, batch: int, name: str) -> SinkBatch:
        """One sink's record of a batch."""
        self.names.add(name)
        return self._batches.setdefault(batch, {}).setdefault(name, SinkBatch())

    def inherit(self, earlier: Sinks) -> None:
        """What went wrong in an earlier run of this process is told when the batch goes well."""
        for batch, sinks in earlier._batches.items():
            for name, sink in sinks.items():
                self.of(batch, name).failure = sink.failure

    def planned(self, batch: int) -> dict[str, Any]:
        """For the intent: every sink is pending."""
        del batch
        return {"sinks": dict.fromkeys(sorted(self.names or {_DEFAULT}), "Pending")}

    def facts(self, batch: int) -> Facts:
        """For the manifest: every sink has taken the batch."""
        known = sorted(self._batches.get(batch) or self.names or {_DEFAULT})
        return Facts(
            sink_names=tuple(known),
            sink_epochs=dict.fromkeys(known, batch + 1),
            sink_commit_statuses=dict.fromkeys(known, SinkCommitStatus.committed()),
        )

    def notes(self, batch: int) -> dict[str, Any]:
        """For the manifest: how sure that is, and what went wrong before it went well."""
        return {
            name: {
                "outcome": sink.outcome.value,
                **({"failed": sink.failure} if sink.failure else {}),
            }
            for name, sink in self._batches.get(batch, {}).items()
        }

    def committed(self, batch: int) -> None:
        self._batches = {later: sinks for later, sinks in self._batches.items() if later > batch}
