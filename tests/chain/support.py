"""A small driver for chain tests: batches with offsets, a commit marker and some state."""

from __future__ import annotations

import hashlib
import zlib
from typing import TYPE_CHECKING, Any

import orjson

from holdfast.chain import Chain, ChainWriter, Committed, NewFile
from holdfast.chain.refs import list_refs
from holdfast.ids import Writer
from holdfast.layout import Keys
from holdfast.manifest.envelope import seal
from holdfast.manifest.files import ObjectRef
from holdfast.objectstore import Body, ObjectMeta, ObjectStore, PutMode, RetryingStore, scan
from holdfast.settings import ChainSettings
from holdfast.testing import Fault, FaultyStore, ManualClock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

QUERY = "orders"


def chain(store: ObjectStore, name: str = "one", query: str = QUERY, **settings: Any) -> Chain:
    """A chain as one driver sees it, with fewer checkpoints in everything."""
    chosen = {"retain": 3, "full_every": 4, "parallel": 1, **settings}
    return Chain(
        store,
        query,
        settings=ChainSettings(**chosen),
        clock=ManualClock(),
        writer=Writer(host=f"host-{name}", application=f"app-{name}", pid=1),
    )


def retried(store: ObjectStore) -> RetryingStore:
    """The store with the retries that a lost reply needs; nobody waits for them."""
    return RetryingStore(store, clock=ManualClock())


def file(path: str, body: bytes | str = "", mtime_ms: int = 1) -> NewFile:
    return NewFile(
        path=path, mtime_ms=mtime_ms, body=body.encode() if isinstance(body, str) else body
    )


def plan(batch: int, text: str = "") -> list[NewFile]:
    """What Spark's driver writes before a batch."""
    return [file(f"offsets/{batch}", text or f"plan of {batch}")]


def results(batch: int) -> list[NewFile]:
    """What a batch writes."""
    return [file(f"commits/{batch}", "v1"), file(f"state/0/{batch + 1}.delta", f"state {batch}")]


def run(writer: ChainWriter, batches: int = 1) -> Committed:
    """Plan and commit some batches; files older than two batches go."""
    committed = None
    for _ in range(batches):
        batch = writer.head.next_batch
        if writer.head.shown_plan is None:
            writer.intent(batch, plan(batch))
        old = [] if batch < 2 else [*plan(batch - 2), *results(batch - 2)]
        committed = writer.commit(batch, results(batch), removed=[gone.path for gone in old])
    assert committed is not None
    return committed


def damage(store: ObjectStore, key: str) -> None:
    """Flip one bit in the middle of an object."""
    body = bytearray(store.get(key).body)
    body[len(body) // 2] ^= 0x01
    store.put(key, bytes(body))


def live_refs(store: ObjectStore, query: str = QUERY) -> list[str]:
    """The tags and clones of a query, by name."""
    found = list_refs(chain(store, query=query).context).live.values()
    return sorted(f"{parsed.kind.value} {parsed.name}" for parsed in found)


def keys_of(store: ObjectStore, prefix: str = "") -> list[str]:
    return [meta.key for meta in scan(store, prefix)]


def resealed(document: dict[str, Any]) -> bytes:
    """A manifest with something else in it, and a checksum that fits."""
    own = {name: each for name, each in document["holdfast"].items() if name != "checksum"}
    others = {name: each for name, each in document.items() if name != "holdfast"}
    return seal(orjson.dumps({**others, "holdfast": own}), depth=2)


def upload(store: ObjectStore, path: str, *, claim: int, body: bytes) -> NewFile:
    """A large file as an executor leaves it: an object of its own, not yet committed."""
    keys = Keys.of_query(QUERY)
    key = keys.file(claim, path)
    store.put(key, body)
    digest = hashlib.sha256(body).hexdigest()
    relative = key.removeprefix(keys.root)
    ref = ObjectRef("file", relative, len(body), digest, crc32=zlib.crc32(body))
    return NewFile(path=path, mtime_ms=1, uploaded=ref)


class Meddling(FaultyStore):
    """Something else happens just before or after each put of a key with this in its name."""

    def __init__(
        self,
        inner: ObjectStore,
        part: str,
        *,
        before: Callable[[], object] | None = None,
        after: Callable[[], object] | None = None,
        faults: Iterable[Fault] = (),
    ) -> None:
        super().__init__(inner, faults)
        self._part, self._before, self._after = part, before, after

    def put(self, key: str, body: Body, *, mode: PutMode = PutMode.OVERWRITE) -> ObjectMeta:
        if self._before is not None and self._part in key:
            self._before()
        try:
            return super().put(key, body, mode=mode)
        finally:
            if self._after is not None and self._part in key:
                self._after()
