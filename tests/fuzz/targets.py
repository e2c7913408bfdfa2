"""Every decoder of Holdfast, with honest inputs and the errors that it says it raises."""

from __future__ import annotations

import struct
from typing import Any

import google_crc32c
import lz4.block
import orjson

from holdfast.chain.refs import _parse as parse_ref
from holdfast.checkpoint.pointer import distributed_pointer, latest_pointer
from holdfast.errors import BridgeError, ConfigError, CorruptionError
from holdfast.ids import Writer
from holdfast.layout import CheckpointPaths, Keys, query_of_path, unescape_name, v1_latest_number
from holdfast.manifest import CheckpointManifest, CheckpointManifestV2
from holdfast.manifest.envelope import seal
from holdfast.manifest.files import FileTable, checked_path
from holdfast.manifest.intent import Intent, IntentKind, decode_intent
from holdfast.manifest.record import decode_chain_manifest
from holdfast.objectstore import Certificate, MemoryStore, redact
from holdfast.pack import decode_batch, decode_views, encode_batch
from holdfast.report.detail import of_chain
from holdfast.sessions import SourceCheckpoint
from holdfast.sessions.document import Document
from holdfast.sessions.state import SourceState
from holdfast.spark.journal import Pending
from holdfast.spark.modes import parse_thread
from holdfast.spark.options import KEYS, PREFIX, parse_options
from holdfast.sparkfiles.identity import parse_query_id, with_query_id
from holdfast.sparkfiles.locations import relocated
from holdfast.sparkfiles.offsets import parse_offsets
from holdfast.sparkfiles.paths import log_batches, needed_at_start
from holdfast.sparkfiles.state import missing_versions, parse_state
from tests.chain.support import QUERY, chain, plan, resealed, run
from tests.formats.samples import full_distributed, full_manifest
from tests.fuzz.calls import calls
from tests.fuzz.commands import command_line
from tests.fuzz.engine import Target

_STORED = (CorruptionError, ConfigError)
_PACK_HEADER = struct.Struct("<4sIIII")
_WRITER = Writer(host="host", application="app", pid=7)
_STATE_METADATA = (
    b'v2\n{"operatorInfo":{"operatorId":0,"operatorName":"transformWithStateExec"},'
    b'"stateStoreInfo":[{"storeName":"default","stateSchemaFilePaths":'
    b'["holdfast:/orders/state/0/_stateSchema/default/0_x"]}]}'
)
_OFFSETS = (
    b'v1\n{"batchWatermarkMs":1700000000000,"batchTimestampMs":1700000000001,'
    b'"conf":{"spark.sql.shuffle.partitions":"2"}}\n{"logOffset":3}\n-'
)
_OFFSETS_V2 = _OFFSETS.replace(b"v1", b"v2").replace(b'{"logOffset', b'orders:{"logOffset')
_PATHS = b"metadata\noffsets/7\nsources/0/9.compact\nstate/0/1/7.delta\nstate/0/1/left/9_ab.zip"
_JOURNAL = (
    b"f\tstate/0/1/2.delta\t1700000000000\t46\tsegment-1\t120\n"
    b"o\tstate/0/1/2.zip\t1700000000000\t4096\t" + b"ab" * 32 + b"\t7\tcheckpoints/files/1/x\n"
    b"d\tstate/0/1\t1700000000000\nx\toffsets/1\nl\tstate/0/1\t2\t15\n"
)
_THREAD = (
    b"stream execution thread for name [id = 0190b6d5-3b7c-7def-8123-456789abcdef, "
    b"runId = 0190b6d5-3b7c-7def-8123-456789abcdee]"
)
_KEY_NAMES = b"\n".join(
    (
        b"orders/manifests/manifest-000012.json",
        b"orders/intents/intent-1000000.json",
        b"orders/checkpoints/files/000003/ab%2Fcd",
        b"orders/refs/tags/v1.json",
        b"0190b6d5-3b7c-7def-8123-456789abcdef/operators/x/partition-1",
        b"checkpoint_000012",
    )
)


def targets() -> tuple[Target, ...]:
    """All of them; each is made of what the code itself writes."""
    return (*_documents(), *_packs(), *_texts(), _reader(), calls(), command_line())


def _documents() -> list[Target]:
    manifests, intents, refs = _chain_documents()
    document = Document(
        number=3,
        nonce="n",
        writer=_WRITER,
        written_ms=1,
        state=SourceState(
            sources={"kafka": SourceCheckpoint(4, b"\x00position")},
            config_hash=2**64 - 1,
            config={"a": [1, None]},
        ),
    )
    certificate = Certificate(
        verdict="certified", store="s3://b/p", when_ms=1, seconds=1.5, threads=4, processes=2,
        checks=(),
    )  # fmt: skip
    context = chain(MemoryStore()).context
    ref_key = Keys.of_query(QUERY).tag("v1", 1)
    return [
        Target(
            name="manifest of a chain",
            seeds=manifests,
            decode=_decode_manifest,
            errors=_STORED,
            mend=_mend_manifest,
        ),
        Target(
            name="manifest of the seed",
            seeds=(full_manifest().encode(), manifests[0]),
            decode=lambda data: CheckpointManifest.decode(data).validate(),
            errors=_STORED,
        ),
        Target(
            name="manifest, version 2",
            seeds=(full_distributed().encode(),),
            decode=CheckpointManifestV2.decode,
            errors=_STORED,
        ),
        Target(
            name="intent",
            seeds=intents,
            decode=_decode_intent,
            errors=_STORED,
            mend=_mend_document,
        ),
        Target(
            name="ref",
            seeds=refs,
            decode=lambda data: parse_ref(context, ref_key, data),
            errors=_STORED,
            mend=_mend_manifest,
        ),
        Target(
            name="source document",
            seeds=(document.encode(),),
            decode=lambda data: Document.decode(data, 3),
            errors=_STORED,
            mend=_mend_document,
        ),
        Target(name="certificate", seeds=(certificate.to_json(),), decode=Certificate.from_json),
        Target(
            name="pointers",
            seeds=(b'{"checkpoint_id":12}', b"0190b6d5-3b7c-7def-8123-456789abcdef"),
            decode=_decode_pointers,
        ),
    ]


def _packs() -> list[Target]:
    seeds = (
        encode_batch([("offsets/1", b"v1\n{}"), ("state/0/1/2.delta", bytes(300)), ("", b"")]),
        encode_batch([(f"file {n}", b"same" * 20) for n in range(40)]),
        encode_batch([]),
    )
    return [
        Target(
            name="pack",
            seeds=seeds,
            decode=lambda data: (decode_batch(data), decode_views(data)),
            errors=(CorruptionError,),
            mend=_mend_pack,
        ),
        Target(
            name="pack, by its body",
            seeds=tuple(_body(seed) for seed in seeds),
            decode=lambda body: decode_batch(_packed(body)),
            errors=(CorruptionError,),
        ),
    ]


def _texts() -> list[Target]:
    conf = {f"{PREFIX}{key.name}": key.default for key in KEYS}
    stores = {f"{PREFIX}store": "s3://b/p?secret_key=x", f"{PREFIX}store.prod": "file:///x"}
    location = b"https://user:pass@host/b?secret_key=x&region=y s3://b/p?access_key=1"
    return [
        Target(name="offsets", seeds=(_OFFSETS, _OFFSETS_V2), decode=_decode_offsets),
        Target(
            name="journal",
            seeds=(_JOURNAL,),
            decode=lambda data: Pending().tell(data.decode(errors="replace")),
            errors=(BridgeError,),
        ),
        Target(
            name="options",
            seeds=(orjson.dumps({**conf, **stores}), orjson.dumps(stores)),
            decode=_decode_options,
            errors=(ConfigError,),
            cost=3,
        ),
        Target(name="keys", seeds=(_KEY_NAMES,), decode=_decode_keys),
        Target(name="names of Spark's files", seeds=(_PATHS,), decode=_decode_paths),
        Target(
            name="metadata of Spark",
            seeds=(b'{"id":"0190b6d5-3b7c-7def-8123-456789abcdef"}',),
            decode=lambda data: (parse_query_id(data), with_query_id(data, "x")),
        ),
        Target(
            name="state metadata of Spark",
            seeds=(_STATE_METADATA,),
            decode=lambda data: relocated(data, lambda _: "holdfast:/new"),
            errors=(CorruptionError,),
        ),
        Target(
            name="thread names of Spark",
            seeds=(_THREAD,),
            decode=lambda data: parse_thread(data.decode(errors="replace")),
        ),
        Target(
            name="texts with secrets",
            seeds=(location,),
            decode=lambda data: redact(data.decode(errors="replace")),
        ),
    ]


def _reader() -> Target:
    """A whole chain, one of whose manifests is not what its writer wrote."""
    store = MemoryStore()
    run(chain(store).claim(), 3)
    keys = Keys.of_query(QUERY)
    seeds = tuple(store.get(keys.manifest(number)).body for number in (1, 3, 4))

    def decode(data: bytes) -> None:
        number = _number_in(data)
        if number not in (1, 2, 3, 4):
            return
        honest = store.get(keys.manifest(number)).body
        store.put(keys.manifest(number), data)
        try:
            looked_at(number)
        finally:
            store.put(keys.manifest(number), honest)

    def looked_at(number: int) -> None:
        reader = chain(store)
        reader.validate(4)
        for each in reader.history():
            if each.entry is not None and each.number == number:
                of_chain(reader.context, each.entry, reader.recover().head)
        reader.retain(1, dry_run=True)
        reader.read(reader.recover().head)

    return Target(
        name="a chain with one strange manifest",
        seeds=seeds,
        decode=decode,
        errors=_STORED,
        mend=_mend_manifest,
        cost=20,
    )


def _chain_documents() -> tuple[tuple[bytes, ...], tuple[bytes, ...], tuple[bytes, ...]]:
    store = MemoryStore()
    writer = chain(store, inline_bytes_max=300).claim()
    run(writer, 3)
    writer.intent(3, plan(3, "x" * 400), notes={"sinks": {"sink": "Pending"}})
    chain(store).tag("v1", 3)
    keys = Keys.of_query(QUERY)
    rollback = Intent(
        kind=IntentKind.ROLLBACK, number=5, nonce="n", claim=1, query=QUERY, writer=_WRITER,
        timestamp_ms=1, target=2,
    )  # fmt: skip
    return (
        tuple(store.get(keys.manifest(number)).body for number in range(1, 5)),
        (*(store.get(keys.intent(number)).body for number in (1, 2, 5)), rollback.encode()),
        (store.get(keys.tag("v1", 1)).body,),
    )


def _decode_manifest(data: bytes) -> None:
    entry = decode_chain_manifest(data, number=_number_in(data), query=QUERY)
    entry.inline_pack()
    _require_safe(entry.record.files)
    for each in entry.record.plans:
        _require_safe(each.files)
        each.digest()


def _decode_intent(data: bytes) -> None:
    found = orjson_or_none(data)
    number = found.get("number") if isinstance(found, dict) else 1
    intent = decode_intent(data, number=number if isinstance(number, int) else 1, query=QUERY)
    if intent.plan is not None:
        _require_safe(intent.plan.files)
        intent.plan.digest()


def _require_safe(files: FileTable) -> None:
    """What is read may be written to a disk below some directory, and nowhere else."""
    for file in files:
        try:
            checked_path(file.path)
        except ConfigError as error:
            raise AssertionError(f"a path that leads elsewhere was read: {file.path!r}") from error


def _decode_pointers(data: bytes) -> None:
    latest_pointer(Keys.of_query(QUERY)).decode(data)
    distributed_pointer(CheckpointPaths("")).decode(data)


def _decode_offsets(data: bytes) -> None:
    offsets = parse_offsets(data)
    orjson.dumps({name: each.to_json() for name, each in offsets.connectors(1).items()})


def _decode_options(data: bytes) -> None:
    found = orjson_or_none(data)
    conf = found if isinstance(found, dict) else {f"{PREFIX}{data.decode(errors='replace')}": "1"}
    options = parse_options({str(key): str(value) for key, value in conf.items()})
    sizes = (options.spool_bytes_max, options.large_file_bytes, options.prefetch_bytes)
    assert all(0 <= size < 2**63 for size in sizes), "Java has no such number"


def _decode_keys(data: bytes) -> None:
    for line in data.decode(errors="replace").split("\n"):
        for root in ("", "orders/"):
            Keys(root).parse(line)
            CheckpointPaths(root).parse(line)
        query_of_path(line)
        unescape_name(line)
        v1_latest_number(line)


def _decode_paths(data: bytes) -> None:
    paths = data.decode(errors="replace").split("\n")
    for path in paths:
        parse_state(path)
    needed_at_start(paths)
    log_batches(paths, "offsets")
    missing_versions(paths, 3, partitions=2)


def _mend_manifest(data: bytes) -> bytes:
    """The checksum of a manifest that was changed, as its writer would have made it."""
    document = orjson_or_none(data)
    if not isinstance(document, dict) or not isinstance(document.get("holdfast"), dict):
        return data
    try:
        return resealed(document)
    except (TypeError, orjson.JSONEncodeError):
        return data


def _mend_document(data: bytes) -> bytes:
    document = orjson_or_none(data)
    if not isinstance(document, dict):
        return data
    document.pop("checksum", None)
    return seal(orjson.dumps(document))


def _mend_pack(data: bytes) -> bytes:
    """The CRC of a pack that was changed."""
    if len(data) < _PACK_HEADER.size:
        return data
    crc = google_crc32c.value(data[_PACK_HEADER.size :])
    return data[:16] + struct.pack("<I", crc) + data[_PACK_HEADER.size :]


def _body(data: bytes) -> bytes:
    """The number of entries, then the uncompressed body."""
    count = _PACK_HEADER.unpack_from(data)[2]
    return struct.pack("<I", count) + bytes(lz4.block.decompress(data[_PACK_HEADER.size :]))


def _packed(body: bytes) -> bytes:
    """A pack whose sizes and CRC are right, around any body."""
    count = struct.unpack("<I", body[:4].ljust(4, b"\0"))[0]
    block = bytes(lz4.block.compress(body[4:], store_size=True))
    crc = google_crc32c.value(block)
    return _PACK_HEADER.pack(b"LCB1", 2, count, len(body[4:]), crc) + block


def _number_in(data: bytes) -> int:
    found = orjson_or_none(data)
    number = found.get("checkpoint_id") if isinstance(found, dict) else None
    return number if isinstance(number, int) else 1


def orjson_or_none(data: bytes) -> Any:
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return None
