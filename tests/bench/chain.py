"""The chain's figures: rounds, requests, and a manifest against orjson."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import orjson

from holdfast.chain import Chain, ChainWriter, NewFile
from holdfast.ids import Writer
from holdfast.manifest import CheckpointManifest
from holdfast.manifest.files import FileEntry, FileTable, ObjectRef
from holdfast.manifest.record import (
    Kind,
    Lineage,
    Parent,
    Record,
    decode_chain_manifest,
    encode_chain_manifest,
)
from holdfast.objectstore import MemoryStore, Meter, MeteredStore
from holdfast.settings import LIST_PAGE_MAX, ChainSettings
from tests.bench.measure import Figure, RoundsStore, seconds

if TYPE_CHECKING:
    from collections.abc import Iterator

CHECKPOINTS = 10_000
FILES = 20_000


def recovery() -> Iterator[Figure]:
    """What a start costs on a long chain, beyond the pages of one listing, at its worst.

    The newest full manifest is as far back as it can be; in packs, each of the last 10,000
    batches has left a file that is still needed.
    """
    for name, inline, paths in (("inline", 64 * 1024, 50), ("in packs", 0, CHECKPOINTS)):
        store = RoundsStore(MemoryStore())
        settings = ChainSettings(retain=CHECKPOINTS, inline_bytes_max=inline)
        chain = Chain(store, "orders", settings=settings)
        writer = chain.claim()
        while writer.head.number < CHECKPOINTS or not _is_worst(writer, settings):
            path = f"state/{writer.head.next_batch % paths}"
            writer.commit(writer.head.next_batch, [NewFile(path=path, mtime_ms=1, body=b"x")])
        pages = -(-writer.head.number // LIST_PAGE_MAX)
        beyond = store.rounds(chain.recover) - pages
        yield Figure(
            name=f"recovery of {CHECKPOINTS:,} checkpoints {name}, rounds beyond the listing",
            measured=beyond,
            required=8,
            relation="at most",
        )
        yield Figure(
            name=f"a claim of the same {name}, further rounds",
            measured=store.rounds(chain.claim) - pages - beyond,
            required=6,
            relation="at most",
        )


def _is_worst(writer: ChainWriter, settings: ChainSettings) -> bool:
    return writer.head.number - writer.head.base == settings.full_every - 1


def commits() -> Iterator[Figure]:
    """Requests of one batch with 200 small state files."""
    for inline, name, puts in ((64 * 1024, "inline", 1), (0, "with a pack", 2)):
        meter = Meter()
        settings = ChainSettings(inline_bytes_max=inline)
        writer = Chain(MeteredStore(MemoryStore(), meter), "orders", settings=settings).claim()
        before = meter.usage()
        writer.intent(0, [NewFile(path="offsets/0", mtime_ms=1, body=b"{}")])
        planned = meter.usage()
        writer.commit(
            0,
            [
                NewFile(path=f"state/0/{p}/1.delta", mtime_ms=1, body=b"%04d" % p)
                for p in range(200)
            ],
        )
        if name == "inline":
            used = (planned - before).total
            yield Figure(name="an intent, requests", measured=used, required=1, relation="exactly")
        yield Figure(
            name=f"a commit of 200 small files {name}, requests",
            measured=(meter.usage() - planned).total,
            required=puts,
            relation="exactly",
        )


def manifests() -> Iterator[Figure]:
    """A full manifest against orjson on the very same bytes."""
    packs = [
        ObjectRef("pack", f"checkpoints/state-{n:06}.bin", 9, hashlib.sha256(b"%d" % n).hexdigest())
        for n in range(100)
    ]
    table = FileTable.of(
        FileEntry(
            f"state/0/{n % 200}/{n // 200 + 1}.delta", n, 1_790_000_000_000 + n, packs[n % 100]
        )
        for n in range(FILES)
    )
    manifest = CheckpointManifest.new(64, 64)
    record = Record(
        kind=Kind.COMMIT,
        nonce="n",
        claim=1,
        lineage=Lineage(),
        query="orders",
        batch=63,
        writer=Writer(host="h", application="a", pid=1),
        base=64,
        parent=Parent(number=63, sha256="0" * 64),
        files=table,
    )
    body = encode_chain_manifest(manifest, record)
    document = orjson.loads(body)
    ours = seconds(lambda: encode_chain_manifest(manifest, record)) + seconds(
        lambda: decode_chain_manifest(body, number=64, query="orders")
    )
    theirs = seconds(lambda: orjson.dumps(document)) + seconds(lambda: orjson.loads(body))
    yield Figure(
        name=f"a manifest of {FILES:,} files, written and read, against orjson",
        measured=ours / theirs,
        required=6,
        relation="at most",
        unit="x",
    )
