"""Import: a chain that begins where a checkpoint that Spark wrote stands.

Small files become packs, those that a start reads first; large ones objects of their own, mapped
and never whole in memory. The first manifest decides: until it is there, there is no query.

Failure: killed before the manifest → objects without a chain, which a later claim of the same name
takes away; the import can be run again. After it → a query. The origin is only read.
"""

from __future__ import annotations

import contextlib
import hashlib
import zlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from holdfast.chain import Head, NewFile
from holdfast.chain.begin import NewChain, begin, first_number
from holdfast.errors import AlreadyExistsError, HoldfastError
from holdfast.manifest import Facts, ObjectRef
from holdfast.manifest.files import FileEntry
from holdfast.manifest.record import Lineage
from holdfast.moving.stock import require_unchanged
from holdfast.objectstore.parallel import gather
from holdfast.pack import encode_batch
from holdfast.settings import MIB
from holdfast.sparkfiles.locations import as_spark_writes, holds_locations, relocated
from holdfast.sparkfiles.paths import needed_at_start

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from holdfast.chain import Chain
    from holdfast.chain.context import Context
    from holdfast.manifest.files import ObjectKind
    from holdfast.moving.origin import Origin
    from holdfast.moving.stock import Stock
    from holdfast.objectstore import Body, ObjectMeta

LARGE_FILE_BYTES = MIB
PACK_BYTES_MAX = 8 * MIB
_LARGE_AT_ONCE = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """The query that there is now: `objects` beside its manifest hold its bytes."""

    number: int
    files: int
    size_bytes: int
    objects: int


def bring(
    chain: Chain,
    origin: Origin,
    stock: Stock,
    *,
    location: str,
    progress: Callable[[int], None] = lambda _: None,
) -> Imported:
    """Begin a query with the files of a checkpoint; `location` is what its job will call it.

    Raises:
        AlreadyExistsError: the query exists, or was begun meanwhile.
        MisuseError: the checkpoint changed while it was read.
        CommitUnknownError, UnavailableError, StoreError: the store said no, or nothing.
    """
    number = first_number(chain.context)
    work = _Work(chain.context, origin, as_spark_writes(location), progress, number)
    try:
        added = work.copy(stock)
        require_unchanged(origin, stock)
        return work.decide(stock, added)
    except BaseException:
        work.clean_up()
        raise


class _Work:
    """One import under way."""

    def __init__(
        self,
        context: Context,
        origin: Origin,
        root: str,
        progress: Callable[[int], None],
        number: int,
    ) -> None:
        self._context = context
        self._origin = origin
        self._root = root
        self._progress = progress
        self._number = number
        self._entries: dict[str, FileEntry] = {}
        self._keys: list[str] = []
        self._deciding = False

    def copy(self, stock: Stock) -> list[NewFile]:
        """Put every object; the small files that are left over ride with the manifest."""
        parallel = self._context.settings.parallel
        large = [file for file in stock.files if file.size > LARGE_FILE_BYTES]
        gather(self._put_large, large, parallel=min(_LARGE_AT_ONCE, parallel))
        first = needed_at_start(file.key for file in stock.files)
        small = sorted(
            (file for file in stock.files if file.size <= LARGE_FILE_BYTES),
            key=lambda file: (file.key not in first, file.key),
        )
        *packs, last = _groups(small)
        for pack in packs:
            self._put_pack(self._read(pack))
        return self._read(last)

    def decide(self, stock: Stock, added: list[NewFile]) -> Imported:
        """Create the manifest; from here on there is a query, or it is not known whether."""
        state = Head(
            batch=stock.batch,
            files=dict(self._entries),
            size_bytes=sum(entry.size for entry in self._entries.values()),
        )
        planned = self._read([stock.plan]) if stock.plan else []
        self._deciding = True
        try:
            entry = begin(
                self._context,
                NewChain(number=self._number, lineage=self._lineage(stock)),
                state,
                facts=_facts(stock),
                added=added,
                planned=planned,
                notes={"imported": self._origin.shown},
            )
        except AlreadyExistsError:
            self._deciding = False
            raise
        refs = {file.ref for file in entry.record.files if file.ref is not None}
        return Imported(
            number=entry.number,
            files=len(entry.record.files),
            size_bytes=entry.manifest.size_bytes or 0,
            objects=sum(1 for ref in refs if ref.kind != "inline"),
        )

    def _lineage(self, stock: Stock) -> Lineage:
        incarnation = self._context.nonces()
        return Lineage(incarnation=incarnation, number=self._number, batch=stock.batch)

    def clean_up(self) -> None:
        """Delete what was put, unless a manifest may name it; what stays, a claim takes away."""
        if self._keys and not self._deciding:
            with contextlib.suppress(HoldfastError):
                self._context.store.delete(self._keys)

    def _read(self, files: list[ObjectMeta]) -> list[NewFile]:
        return gather(self._read_one, files, parallel=self._context.settings.parallel)

    def _read_one(self, file: ObjectMeta) -> NewFile:
        body = self._origin.read(file)
        if holds_locations(file.key):
            body = relocated(body, lambda _: self._root)
        self._progress(file.size)
        return NewFile(path=file.key, mtime_ms=file.modified_ms, body=body)

    def _put_pack(self, files: list[NewFile]) -> None:
        body = encode_batch((file.path, file.body) for file in files if file.body)
        ref = self._put("pack", body, f"pack-{self._context.nonces()}")
        for file in files:
            self._entries[file.path] = file.entry(ref)

    def _put_large(self, file: ObjectMeta) -> None:
        with self._origin.mapped(file) as view:
            ref = self._put("file", view, self._context.nonces())
            ref = replace(ref, crc32=zlib.crc32(view))
        self._entries[file.key] = FileEntry(file.key, file.size, file.modified_ms, ref)
        self._progress(file.size)

    def _put(self, kind: ObjectKind, body: Body, name: str) -> ObjectRef:
        """Under a key that no one else draws, so that a retry may overwrite its own."""
        context = self._context
        key = context.keys.file(self._number, name)
        digest = hashlib.sha256(body).hexdigest()
        self._keys.append(key)
        context.store.put(key, body)
        return ObjectRef(kind, context.relative(key), len(body), digest)


def _groups(files: list[ObjectMeta]) -> Iterator[list[ObjectMeta]]:
    """Neighbours that make a pack together; the last group may be empty."""
    group: list[ObjectMeta] = []
    size = 0
    for file in files:
        if size + file.size > PACK_BYTES_MAX:
            yield group
            group, size = [], 0
        group.append(file)
        size += file.size
    yield group


def _facts(stock: Stock) -> Facts:
    offsets = stock.offsets
    return Facts(
        source_offsets=offsets.connectors(stock.batch),
        watermark=offsets.watermark_ms,
        source_names=tuple(offsets.ends),
    )
