"""Tombstones: what stays of a claim that retention retires, so that its number stays taken.

Epoch 0 makes readers of the seed's format refuse it as a checkpoint.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.manifest.model import CheckpointManifest
from holdfast.manifest.record import Kind, Lineage, Record, encode_chain_manifest

if TYPE_CHECKING:
    from holdfast.chain.context import Context
    from holdfast.chain.summary import Summary


def encode_tombstone(context: Context, number: int, retired: Summary) -> bytes:
    """Names the retired claim's writer and time, which a fenced driver then reports.

    A clone's also names the query that it was made from, which holds objects for it.
    """
    origin = retired.parent
    manifest = CheckpointManifest(checkpoint_id=number, epoch=0, timestamp_ms=retired.timestamp_ms)
    record = Record(
        kind=Kind.TOMBSTONE,
        nonce=context.nonces(),
        claim=retired.claim,
        lineage=Lineage(incarnation=retired.incarnation),
        query=context.query,
        batch=-1,
        writer=retired.writer or context.writer,
        base=number,
        parent=origin if origin is not None and origin.query else None,
    )
    return encode_chain_manifest(manifest, record)
