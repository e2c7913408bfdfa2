"""Object stores: one seam of five verbs, its backends and its wrappers."""

from holdfast.objectstore.base import (
    Blob,
    Body,
    ObjectMeta,
    ObjectStore,
    Page,
    Presigned,
    PutMode,
    check_key,
    scan,
)
from holdfast.objectstore.local import LocalStore
from holdfast.objectstore.memory import MemoryStore
from holdfast.objectstore.metered import S3_STANDARD, Meter, MeteredStore, PriceTable, Usage
from holdfast.objectstore.retrying import RetryingStore

__all__ = [
    "S3_STANDARD",
    "Blob",
    "Body",
    "LocalStore",
    "MemoryStore",
    "Meter",
    "MeteredStore",
    "ObjectMeta",
    "ObjectStore",
    "Page",
    "Presigned",
    "PriceTable",
    "PutMode",
    "RetryingStore",
    "Usage",
    "check_key",
    "scan",
]
