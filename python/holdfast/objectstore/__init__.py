"""Object stores: one seam of five verbs, its backends and its wrappers."""

from typing import TYPE_CHECKING

from holdfast.objectstore.base import (
    Blob,
    Body,
    ObjectMeta,
    ObjectStore,
    Page,
    Parted,
    PartedUpload,
    Presigned,
    PutMode,
    check_key,
    innermost,
    parted_of,
    pieces,
    scan,
)
from holdfast.objectstore.certificate import Certificate, Check
from holdfast.objectstore.certify import certify, ensure_certified
from holdfast.objectstore.local import LocalStore
from holdfast.objectstore.memory import MemoryStore
from holdfast.objectstore.metered import S3_STANDARD, Meter, MeteredStore, PriceTable, Usage
from holdfast.objectstore.retrying import RetryingStore
from holdfast.objectstore.url import open_store, probe, redact, with_meter, without_credentials

if TYPE_CHECKING:
    from holdfast.objectstore.s3 import S3Store

__all__ = [
    "S3_STANDARD",
    "Blob",
    "Body",
    "Certificate",
    "Check",
    "LocalStore",
    "MemoryStore",
    "Meter",
    "MeteredStore",
    "ObjectMeta",
    "ObjectStore",
    "Page",
    "Parted",
    "PartedUpload",
    "Presigned",
    "PriceTable",
    "PutMode",
    "RetryingStore",
    "S3Store",
    "Usage",
    "certify",
    "check_key",
    "ensure_certified",
    "innermost",
    "open_store",
    "parted_of",
    "pieces",
    "probe",
    "redact",
    "scan",
    "with_meter",
    "without_credentials",
]


def __getattr__(name: str) -> object:
    """`S3Store` at its first use: boto3 takes longer to import than all the rest."""
    if name == "S3Store":
        from holdfast.objectstore.s3 import S3Store  # noqa: PLC0415 - the reason is above

        return S3Store
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
