"""Sessions: where a query's sources stand, committed together, and for which configuration."""

from holdfast.sessions.checkpoints import SourceCheckpoints
from holdfast.sessions.confighash import (
    Config,
    JoinConfig,
    QueryConfig,
    SourceConfig,
    config_hash,
)
from holdfast.sessions.difference import ConfigChange, config_difference
from holdfast.sessions.ledger import Ledger, MemoryLedger
from holdfast.sessions.staging import CLEAR
from holdfast.sessions.startup import Outcome, Policy, StartDecision, remove, start
from holdfast.sessions.state import ResumePoint, SourceCheckpoint, SourceState
from holdfast.sessions.store_ledger import StoreLedger

__all__ = [
    "CLEAR",
    "Config",
    "ConfigChange",
    "JoinConfig",
    "Ledger",
    "MemoryLedger",
    "Outcome",
    "Policy",
    "QueryConfig",
    "ResumePoint",
    "SourceCheckpoint",
    "SourceCheckpoints",
    "SourceConfig",
    "SourceState",
    "StartDecision",
    "StoreLedger",
    "config_difference",
    "config_hash",
    "remove",
    "start",
]
