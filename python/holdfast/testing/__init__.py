"""For tests of code that uses Holdfast: the stores' contract, and fakes that fail on purpose."""

from holdfast.testing.contract import CONTRACT
from holdfast.testing.faults import (
    CarelessStore,
    DyingStore,
    Fault,
    FaultyStore,
    ManualClock,
    StoreDied,
    lost_reply,
)

__all__ = [
    "CONTRACT",
    "CarelessStore",
    "DyingStore",
    "Fault",
    "FaultyStore",
    "ManualClock",
    "StoreDied",
    "lost_reply",
]
