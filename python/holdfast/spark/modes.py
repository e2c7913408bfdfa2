"""Which ways to run a query keep the order of the two gates, and which do not."""

from __future__ import annotations

import re

from holdfast.errors import ConfigError

_REFUSED = {
    "AsyncProgressTrackingMicroBatchExecution": (
        "asynchronous progress tracking writes offsets after the batch has run, or not at all",
        "leave asyncProgressTrackingEnabled off on holdfast:",
    ),
    "ContinuousExecution": (
        "continuous processing writes offsets after the rows were processed",
        "use a processing-time or availableNow trigger on holdfast:",
    ),
    "RealTimeTrigger": (
        "real-time mode writes offsets after the batch has run",
        "use a processing-time or availableNow trigger on holdfast:",
    ),
}
_IDS = re.compile(r"id = (?P<query>[0-9a-f-]{36}), runId = (?P<run>[0-9a-f-]{36})")


def check_mode(execution: str, trigger: str) -> None:
    """Let a query run only if a batch's plan is written before it runs.

    Raises:
        ConfigError: this mode writes it later.
    """
    for name in (trigger, execution):
        if name in _REFUSED:
            reason, hint = _REFUSED[name]
            raise ConfigError(reason, hint=hint, mode=name)


def parse_thread(name: str) -> tuple[str, str]:
    """The ids of a query and its run, which Spark names the stream thread after."""
    found = _IDS.search(name)
    return (found["query"], found["run"]) if found else ("", "")
