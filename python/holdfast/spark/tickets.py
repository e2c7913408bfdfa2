"""Tickets: permission to move one large file between an executor and the store, and no more."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from holdfast.errors import MisuseError
from holdfast.objectstore import LocalStore, innermost, parted_of
from holdfast.settings import GIB, MIB

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from holdfast.chain.context import Context
    from holdfast.manifest import ObjectRef
    from holdfast.objectstore import PartedUpload
    from holdfast.spark.options import Checksum

Kind: TypeAlias = Literal["http", "parts", "file", "none"]
PART_BYTES = 64 * MIB
PARTS_MAX = 256  # signing a part costs the driver about a millisecond
FILE_BYTES_MAX = PARTS_MAX * 5 * GIB // 2  # S3 takes parts of 5 GiB; the last may be twice as long
_SHA256 = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticket:
    """An HTTP request that is signed for one key, or a path on a disk that all machines share.

    `parts`: one request for each part, the last one with the rest; an executor that has sent them
    all asks the driver to finish. `none`: this store takes a large file only through the driver.
    A reader compares the SHA-256 where `crc32` is None, else the CRC-32.
    """

    kind: Kind
    key: str = ""
    size: int = 0
    sha256: str = ""
    crc32: int | None = None
    address: str = field(default="", repr=False)
    staging: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    upload: PartedUpload | None = field(default=None, repr=False)


def upload_ticket(
    context: Context, claim: int, size: int, sha256s: Sequence[str], seconds: int
) -> Ticket:
    """For a new key under this claim, which no one else will ever draw.

    `sha256s` is the whole file's, and those of its parts if it has more than one.

    Raises:
        MisuseError: these are not the hashes of a file of this size.
    """
    _check(size, sha256s)
    sha256, *parts = sha256s
    key = context.keys.file(claim, context.nonces())
    relative = context.relative(key)
    local = innermost(context.store)
    if isinstance(local, LocalStore):
        staging = local.staging_path(context.nonces())
        return Ticket(
            kind="file",
            key=relative,
            size=size,
            sha256=sha256,
            address=str(local.place(key)),
            staging=str(staging),
        )
    if not context.store.can_presign:
        return Ticket(kind="none")
    parted = parted_of(context.store)
    if parts and parted is not None:
        upload = parted.begin(key, parts, expires_s=seconds)
        return Ticket(kind="parts", key=relative, size=size, sha256=sha256, upload=upload)
    signed = context.store.presign("PUT", key, expires_s=seconds, sha256=sha256)
    return Ticket(
        kind="http",
        key=relative,
        size=size,
        sha256=sha256,
        address=signed.url,
        headers=signed.headers,
    )


def renewed_ticket(
    context: Context, begun: Ticket | None, size: int, sha256s: Sequence[str], seconds: int
) -> Ticket:
    """For an upload in parts that was begun, of the same bytes, whose permission has expired.

    Raises:
        MisuseError: no such upload was begun here, or not with these bytes.
    """
    _check(size, sha256s)
    parted = parted_of(context.store)
    if parted is None or begun is None or begun.upload is None:
        raise MisuseError("no such upload was begun here", query=context.query)
    if (begun.size, begun.sha256, *begun.upload.sha256s) != (size, *sha256s):
        raise MisuseError("this upload was begun with other bytes", query=context.query)
    return replace(begun, upload=parted.renew(begun.upload, expires_s=seconds))


def part_count(size: int) -> int:
    """How many parts a file of this size is sent in; `Parts.java` has the same rule.

    The last part takes what is left over.
    """
    part_bytes = max(PART_BYTES, -(-size // PARTS_MAX))
    return max(1, size // part_bytes)


def _check(size: int, sha256s: Sequence[str]) -> None:
    """Executors name both, and nothing that they name is trusted."""
    if size > FILE_BYTES_MAX:
        raise MisuseError("a large file is above the limit", size=size, limit=FILE_BYTES_MAX)
    parts = part_count(size)
    right = size > 0 and len(sha256s) == (1 if parts == 1 else 1 + parts)
    if not right or not all(_SHA256.fullmatch(each) for each in sha256s):
        raise MisuseError("a large file has no such size and hashes", size=size, count=len(sha256s))


def download_ticket(
    context: Context, ref: ObjectRef, seconds: int, *, verify: Checksum = "crc32"
) -> Ticket:
    """For an object that a manifest names; the reader compares its size and this checksum.

    CRC-32 finds damage in transit and at rest. SHA-256 also finds an object that someone with
    write access to the bucket has replaced, unless the manifests were rewritten, too. A manifest
    of an earlier version has no CRC-32; then SHA-256 is compared.
    """
    key = context.key_of(ref.key)
    local = innermost(context.store)
    if isinstance(local, LocalStore):
        kind: Kind = "file"
        address, headers = str(local.root / key), {}
    else:
        signed = context.store.presign("GET", key, expires_s=seconds)
        kind, address, headers = "http", signed.url, dict(signed.headers)
    return Ticket(
        kind=kind,
        key=ref.key,
        size=ref.size,
        sha256=ref.sha256,
        crc32=ref.crc32 if verify == "crc32" else None,
        address=address,
        headers=headers,
    )
