"""The chain: claims, intents and commits of one query, and everything that follows from them."""

from holdfast.chain.chain import Chain
from holdfast.chain.compose import NewFile
from holdfast.chain.head import Head
from holdfast.chain.history import Checkpoint, Validation
from holdfast.chain.recover import ChainReport, Recovery
from holdfast.chain.refs import Ref
from holdfast.chain.retain import RetentionReport
from holdfast.chain.rollback import RolledBack
from holdfast.chain.writer import ChainWriter, Committed

__all__ = [
    "Chain",
    "ChainReport",
    "ChainWriter",
    "Checkpoint",
    "Committed",
    "Head",
    "NewFile",
    "Recovery",
    "Ref",
    "RetentionReport",
    "RolledBack",
    "Validation",
]
