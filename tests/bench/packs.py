"""Packs against raw lz4 on the same bytes: throughput and memory."""

from __future__ import annotations

import random
import struct
from typing import TYPE_CHECKING

import lz4.block

from holdfast.pack import decode_batch, decode_views, encode_batch
from tests.bench.measure import Figure, peak_bytes, seconds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PARTITIONS = 200
STATE_BYTES = 32 * 1024


def rows() -> list[tuple[str, bytes]]:
    """As a state store writes them, before anything compresses them."""
    order = random.Random(3)

    def row() -> bytes:
        key, count = order.randrange(10**6), order.randrange(500)
        return struct.pack(">IQQ", 24, key, count) + b"sku-%05d" % order.randrange(99_999)

    count = STATE_BYTES // len(row())
    return [
        (f"state/0/{p}/5.delta", b"".join(row() for _ in range(count))) for p in range(PARTITIONS)
    ]


def noise() -> list[tuple[str, bytes]]:
    """What Spark compressed already."""
    order = random.Random(5)
    return [(f"state/0/{p}/5.delta", order.randbytes(STATE_BYTES)) for p in range(PARTITIONS)]


KINDS: dict[str, Callable[[], list[tuple[str, bytes]]]] = {"rows": rows, "noise": noise}


def figures(kind: str) -> Iterator[Figure]:
    entries = KINDS[kind]()
    body = b"".join(data for _, data in entries)
    block, pack = lz4.block.compress(body), encode_batch(entries)
    pairs: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
        "packing": (lambda: encode_batch(entries), lambda: lz4.block.compress(body)),
        "unpacking": (lambda: decode_batch(pack), lambda: lz4.block.decompress(block)),
        "unpacking in place": (lambda: decode_views(pack), lambda: lz4.block.decompress(block)),
    }
    for verb, (ours, raw) in pairs.items():
        yield Figure(
            name=f"{verb} {kind}, of raw lz4's throughput",
            measured=100 * seconds(raw) / seconds(ours),
            required=70,
            relation="at least",
            unit="%",
        )
        yield Figure(
            name=f"{verb} {kind}, peak memory",
            measured=peak_bytes(ours) / len(body),
            required=3,
            relation="at most",
            unit="x the pack",
        )
