"""Large files as tasks read them: checked, by what the manifest has of them."""

from __future__ import annotations

import zlib
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

import holdfast
from tests.chain.support import QUERY, chain, plan, upload

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

BODY = bytes(range(256)) * 8192
PATH = "state/0/0/1.zip"


def commit(store: holdfast.ObjectStore, *, with_crc32: bool) -> str:
    """A checkpoint with one large file; an earlier version wrote no CRC-32. Returns its key."""
    made = chain(store)
    writer = made.claim()
    large = upload(store, PATH, claim=writer.head.claim, body=BODY)
    ref = large.uploaded
    assert ref is not None
    if not with_crc32:
        large = replace(large, uploaded=replace(ref, crc32=None))
    writer.intent(0, plan(0))
    writer.commit(0, [large])
    return made.context.key_of(ref.key)


def read(spark: SparkSession) -> bytes:
    found = spark.read.format("binaryFile").load(f"holdfast:///{QUERY}/{PATH}").collect()
    return bytes(found[0]["content"])


@pytest.mark.parametrize("with_crc32", [True, False], ids=["crc32", "sha256"])
def test_bytes_that_were_not_written_are_not_read(
    spark: SparkSession,
    tmp_path: Path,
    with_crc32: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    """One bit is enough; what is whole is read, whichever version wrote it."""
    store = holdfast.open_store((tmp_path / "store").as_uri())
    key = commit(store, with_crc32=with_crc32)
    assert read(spark) == BODY
    store.put(key, BODY[:-1] + bytes([BODY[-1] ^ 1]))
    with pytest.raises(Exception, match="CorruptionError: an object is not") as refused:
        read(spark)
    assert ("CRC-32" if with_crc32 else "SHA-256") in str(refused.value)


def forged(size: int, crc32: int) -> bytes:
    """Other bytes of this size that have this CRC-32: the last four make up for the rest."""
    table = [zlib.crc32(bytes([each]), 0xFFFFFFFF) ^ 0xFFFFFFFF for each in range(256)]
    by_high_byte = {entry >> 24: each for each, entry in enumerate(table)}
    body = b"forged " + bytes(size - 11)
    state = crc32 ^ 0xFFFFFFFF
    for _ in range(4):
        index = by_high_byte[state >> 24]
        state = (state ^ table[index]) << 8 & 0xFFFFFFFF | index
    state ^= zlib.crc32(body) ^ 0xFFFFFFFF
    return body + state.to_bytes(4, "little")


def test_an_object_that_was_replaced_is_found_by_its_sha256(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Whoever may write to the bucket can forge a CRC-32; the setting adds SHA-256."""
    store = holdfast.open_store((tmp_path / "store").as_uri())
    key = commit(store, with_crc32=True)
    other = forged(len(BODY), zlib.crc32(BODY))
    assert (len(other), zlib.crc32(other)) == (len(BODY), zlib.crc32(BODY))
    store.put(key, other)
    assert read(spark) == other
    spark.conf.set("spark.holdfast.verifyReads", "sha256")
    holdfast.enable(spark)
    with pytest.raises(Exception, match="CorruptionError: an object is not") as refused:
        read(spark)
    assert "SHA-256" in str(refused.value)
    store.put(key, BODY)
    assert read(spark) == BODY
