"""LCB1 packs: the bytes, what is tolerated (nothing), and what a lie costs."""

from __future__ import annotations

import random
import struct
import tracemalloc
from pathlib import Path

import google_crc32c
import lz4.block
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import ConfigError, CorruptionError
from holdfast.pack import decode_batch, decode_views, encode_batch, lcb1
from holdfast.pack.lcb1 import ENTRIES_MAX, _literal_prefix

GOLDEN = Path(__file__).parent.parent / "golden"
ONE_ENTRY = bytes.fromhex(
    "4c434231 02000000 01000000 0b000000 b978a3d4 0b000000 b0 01000000 6b 02000000 6162"
)
SAMPLE = [("a", b"one"), ("a", b"two"), ("größe", b""), ("zeros", bytes(300))]


def body_of(entries: list[tuple[bytes, bytes]]) -> bytes:
    parts = (struct.pack("<I", len(k)) + k + struct.pack("<I", len(v)) + v for k, v in entries)
    return b"".join(parts)


def pack_v2(count: int, size: int, block: bytes, *, prefix: int | None = None) -> bytes:
    """A pack with a right checksum around whatever lies are given."""
    rest = struct.pack("<I", size if prefix is None else prefix) + block
    return struct.pack("<4sIIII", b"LCB1", 2, count, size, google_crc32c.value(rest)) + rest


def pack_v1(count: int, size: int, block: bytes) -> bytes:
    return struct.pack("<4sIIII", b"LCB1", 1, count, size, size) + block


def raw_block(body: bytes) -> bytes:
    block: bytes = lz4.block.compress(body, store_size=False)
    return block


def test_the_specified_vector_decodes() -> None:
    """The 36 bytes of the format's description are one entry."""
    assert decode_batch(ONE_ENTRY) == [("k", b"ab")]


def test_the_specified_vector_is_what_we_write() -> None:
    """A body too small to compress is one run of literals, byte for byte as described."""
    assert encode_batch([("k", b"ab")]) == ONE_ENTRY


def test_an_object_of_the_crate_decodes() -> None:
    """What laminar-storage 0.18.5 wrote in 2026 is read for ever."""
    data = (GOLDEN / "lcb1-v2-crate.lz4").read_bytes()
    expected = [("a", b"one"), ("a", b"two"), ("schlüssel/0", b""), ("zeros", bytes(3000))]
    assert decode_batch(data) == expected


def test_version_1_decodes() -> None:
    """An object without a checksum, header of 16 bytes, is read."""
    data = (GOLDEN / "lcb1-v1.lz4").read_bytes()
    expected = [("old", b"entry"), ("old", b""), ("größe", bytes(range(40)))]
    assert decode_batch(data) == expected


def test_no_entries_are_an_object_too() -> None:
    """An empty pack goes there and back."""
    assert decode_batch(encode_batch([])) == []


@given(st.lists(st.tuples(st.text(), st.binary(max_size=2000)), max_size=30))
def test_what_is_written_is_read(entries: list[tuple[str, bytes]]) -> None:
    """Any keys and any bytes come back in order, duplicates included."""
    assert decode_batch(encode_batch(entries)) == entries


@pytest.mark.parametrize("wrap", [bytearray, memoryview])
def test_any_buffer_is_taken(wrap: type) -> None:
    """Both directions take whatever holds bytes."""
    assert decode_batch(wrap(encode_batch([("k", wrap(b"ab"))]))) == [("k", b"ab")]


def noise(count: int, size: int) -> list[tuple[str, bytes]]:
    order = random.Random(1)
    return [(f"state/{n}", order.randbytes(size)) for n in range(count)]


@pytest.mark.parametrize("size", [0, 1, 14, 15, 16, 269, 270, 271, 70_000])
def test_one_run_of_literals_is_a_valid_lz4_block(size: int) -> None:
    """At every width of its length, any LZ4 reader gives the bytes back."""
    body = random.Random(size).randbytes(size)
    block = _literal_prefix(size) + body
    assert lz4.block.decompress(block, uncompressed_size=max(size, 1)) == body


def test_noise_is_written_as_literals() -> None:
    """Compressing it again would only copy it, three times; what repeats is compressed."""
    entries = noise(20, 10_000)
    pack = encode_batch(entries)
    assert entries[7][1] in pack
    assert decode_batch(pack) == entries
    assert len(encode_batch([(key, bytes(10_000)) for key, _ in entries])) < 5_000


def test_views_are_the_same_entries_without_a_copy() -> None:
    """For what is written on at once; they keep the whole body in memory."""
    entries = noise(3, 100)
    assert [(key, bytes(view)) for key, view in decode_views(encode_batch(entries))] == entries


def test_every_flipped_byte_is_found() -> None:
    """No single byte of a version 2 object can change to any other value unnoticed."""
    data = encode_batch(SAMPLE)
    for position in range(len(data)):
        for mask in range(1, 256):
            damaged = bytearray(data)
            damaged[position] ^= mask
            with pytest.raises(CorruptionError):
                decode_batch(damaged)


@pytest.mark.parametrize("data", [encode_batch(SAMPLE), pack_v1(1, 9, raw_block(bytes(9)))])
def test_every_truncation_is_found(data: bytes) -> None:
    """An object that ends early is corrupt, wherever it ends, with or without a checksum."""
    for length in range(len(data)):
        with pytest.raises(CorruptionError):
            decode_batch(data[:length])


def test_an_object_with_more_behind_it_is_found() -> None:
    """Bytes after the end are damage too."""
    with pytest.raises(CorruptionError, match="CRC32C"):
        decode_batch(encode_batch(SAMPLE) + b"\0")


BODY = body_of([(b"k", b"ab")])
LIES = {
    "magic": b"LCB2" + ONE_ENTRY[4:],
    "version": ONE_ENTRY[:4] + struct.pack("<I", 3) + ONE_ENTRY[8:],
    "fewer entries": pack_v2(0, len(BODY), raw_block(BODY)),
    "more entries": pack_v2(2, len(BODY) + 8, raw_block(BODY + b"\xff" * 8)),
    "header size": pack_v2(1, len(BODY) + 1, raw_block(BODY), prefix=len(BODY)),
    "shorter than claimed": pack_v2(1, len(BODY) + 4, raw_block(BODY)),
    "shorter, and the last entry hides it": pack_v2(
        1, len(BODY) + 4, raw_block(struct.pack("<I", 1) + b"k" + struct.pack("<I", 6) + b"ab")
    ),
    "longer than claimed": pack_v2(1, len(BODY) - 1, raw_block(BODY)),
    "key beyond the end": pack_v2(1, 8, raw_block(struct.pack("<II", 99, 0))),
    "data beyond the end": pack_v2(1, 8, raw_block(struct.pack("<II", 0, 99))),
    "data length cut off": pack_v2(1, 9, raw_block(struct.pack("<I", 3) + b"keyxx")),
    "trailing bytes": pack_v2(1, len(BODY) + 3, raw_block(BODY + b"end")),
    "key is not UTF-8": pack_v2(1, 9, raw_block(body_of([(b"\xff", b"")]))),
    "not a block": pack_v2(1, 11, b"\xff" * 11),
    "empty block": pack_v2(1, 11, b""),
}


@pytest.mark.parametrize("data", LIES.values(), ids=LIES.keys())
def test_a_lie_under_a_right_checksum_is_found(data: bytes) -> None:
    """Each number in an object is checked against the others."""
    with pytest.raises(CorruptionError):
        decode_batch(data)


def test_the_two_sizes_must_agree() -> None:
    """The header's and the block's own; the seed looks at one only."""
    data = pack_v2(1, len(BODY) + 1, raw_block(BODY), prefix=len(BODY))
    with pytest.raises(CorruptionError, match="contradicts itself"):
        decode_batch(data)


HUGE = {
    "size": pack_v2(1, 0xFFFFFFFF, b"\0" * 100_000),
    "size within 1 GiB": pack_v2(1, 1 << 30, b"\0" * 100_000),
    "size, version 1": pack_v1(1, 0xFFFFFFFF, b"\0" * 100_000),
    "count": pack_v2(0xFFFFFFFF, len(BODY), raw_block(BODY)),
    "count, version 1": pack_v1(0xFFFFFFFF, len(BODY), raw_block(BODY)),
    "empty entries": pack_v2(ENTRIES_MAX + 1, 8 * (ENTRIES_MAX + 1), raw_block(bytes(8 << 20))),
}


@pytest.mark.parametrize("data", HUGE.values(), ids=HUGE.keys())
def test_a_huge_claim_costs_no_memory(data: bytes) -> None:
    """A count or size beyond what the object can hold is refused before anything is allocated."""
    tracemalloc.start()
    try:
        with pytest.raises(CorruptionError):
            decode_batch(data)
        assert tracemalloc.get_traced_memory()[1] < 100_000
    finally:
        tracemalloc.stop()


def test_decoding_takes_at_most_three_times_the_pack() -> None:
    """At its peak, decoding holds the body and its entries, and no third copy."""
    data = random.Random(3).randbytes(1 << 20)  # what does not compress is as large as its pack
    pack = encode_batch([(f"{n}", data) for n in range(4)])
    tracemalloc.start()
    try:
        decode_batch(pack)
        assert len(pack) < tracemalloc.get_traced_memory()[1] < 2.1 * len(pack)
    finally:
        tracemalloc.stop()


def test_a_key_that_is_not_unicode_is_refused() -> None:
    """A lone surrogate cannot be written, and the error says which key."""
    with pytest.raises(ConfigError, match="ud800"):
        encode_batch([("\ud800", b"")])


def test_too_many_entries_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is written that reading would refuse."""
    monkeypatch.setattr(lcb1, "ENTRIES_MAX", 3)
    assert len(decode_batch(encode_batch([("", b"")] * 3))) == 3
    with pytest.raises(ConfigError, match="2\\^20"):
        encode_batch([("", b"")] * 4)


def test_too_many_bytes_are_refused() -> None:
    """More than 1 GiB in one pack is refused before it is copied together."""
    chunk = bytes(1 << 20)
    with pytest.raises(ConfigError, match="1 GiB"):
        encode_batch(("k", chunk) for _ in range(1024))
