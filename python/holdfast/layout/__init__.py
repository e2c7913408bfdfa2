"""Every key on the store: this package builds them and parses them, and nothing else does."""

from holdfast.layout.distributed import CheckpointPaths, DistributedKey
from holdfast.layout.keys import Keys, Kind, Parsed, v1_latest_number
from holdfast.layout.names import (
    SEGMENT_BYTES_MAX,
    escape_name,
    query_of_path,
    query_path,
    unescape_name,
)

__all__ = [
    "SEGMENT_BYTES_MAX",
    "CheckpointPaths",
    "DistributedKey",
    "Keys",
    "Kind",
    "Parsed",
    "escape_name",
    "query_of_path",
    "query_path",
    "unescape_name",
    "v1_latest_number",
]
