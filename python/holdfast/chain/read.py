"""Reading a chain: listings, manifests and intents, and the heads that they add up to."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

from holdfast.chain.head import Head
from holdfast.errors import CorruptionError, NotFoundError
from holdfast.layout import Kind as KeyKind
from holdfast.manifest.intent import Intent, decode_intent
from holdfast.manifest.record import ChainManifest, Kind, decode_chain_manifest
from holdfast.objectstore import scan
from holdfast.objectstore.parallel import gather

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from holdfast.chain.context import Context
    from holdfast.objectstore import ObjectMeta

T = TypeVar("T")


class GoneError(CorruptionError):
    """A manifest that was listed is not there any more, or is a tombstone."""


@dataclass(frozen=True, slots=True)
class Listing:
    """The manifests of a chain by number, in ascending order."""

    numbers: dict[int, ObjectMeta] = field(default_factory=dict)

    @property
    def highest(self) -> int:
        return max(self.numbers, default=0)

    def descending(self) -> list[int]:
        return sorted(self.numbers, reverse=True)


def list_manifests(context: Context, *, above: int | None = None) -> Listing:
    """All manifests, or those with a number above one: the pages of one listing."""
    keys = context.keys
    start_after = "" if above is None else keys.before_manifests_above(above)
    found: dict[int, ObjectMeta] = {}
    for meta in scan(context.store, keys.manifests, start_after=start_after):
        parsed = keys.parse(meta.key)
        if parsed is not None and parsed.kind is KeyKind.MANIFEST:
            found[parsed.number] = meta
    return Listing(dict(sorted((n, m) for n, m in found.items() if above is None or n > above)))


def list_intents(context: Context, *, above: int = 0) -> list[int]:
    """The numbers of all intents above one, ascending."""
    keys = context.keys
    start_after = keys.before_intents_above(above)
    parsed = (keys.parse(m.key) for m in scan(context.store, keys.intents, start_after=start_after))
    found = (p.number for p in parsed if p is not None and p.kind is KeyKind.INTENT)
    return sorted(number for number in found if number > above)


def read_twice(read: Callable[[], T]) -> T:
    """What is read, if it is whole at the first or at the second try.

    Bytes can be damaged on their way here, and walking over a checkpoint that is whole would
    undo a batch that was reported as committed.

    Raises:
        CorruptionError: the damage stays, so it is in the store.
    """
    try:
        return read()
    except CorruptionError:
        return read()


def fetch_manifest(context: Context, number: int) -> ChainManifest:
    """The manifest with this number, as it is on the store now.

    Raises:
        NotFoundError: there is none.
        CorruptionError: it is damaged.
    """
    blob = context.store.get(context.keys.manifest(number))
    entry = decode_chain_manifest(blob.body, number=number, query=context.query)
    return replace(entry, etag=blob.meta.etag)


def fetch_intent(context: Context, number: int) -> Intent | None:
    """The intent with this number, if there is one.

    Raises:
        CorruptionError: it is there and cannot be read, so a plan may be lost.
    """

    def read() -> Intent:
        return parse_intent(context, number, context.store.get(context.keys.intent(number)).body)

    try:
        return read_twice(read)
    except NotFoundError:
        return None


def parse_intent(context: Context, number: int, body: bytes) -> Intent:
    """The intent that these bytes are.

    Raises:
        CorruptionError: they are none, so a plan may be lost.
    """
    try:
        return decode_intent(body, number=number, query=context.query)
    except CorruptionError as error:
        raise CorruptionError(
            "an intent cannot be read: the plan of a batch that may have run is lost",
            hint="restore it from a backup, or delete it if the sink takes a batch twice",
            key=context.keys.intent(number),
            reason=error,
        ) from error


class Reader:
    """Manifests of one chain, each fetched once."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._seen: dict[int, ChainManifest | CorruptionError] = {}

    def prefetch(self, numbers: Iterable[int]) -> None:
        """Fetch what is not there yet, all at once."""
        missing = [number for number in numbers if number not in self._seen]
        results = gather(self._fetch, missing, parallel=self._context.settings.parallel)
        self._seen.update(zip(missing, results, strict=True))

    def manifest(self, number: int) -> ChainManifest:
        """One manifest.

        Raises:
            GoneError: it is not there, or a tombstone.
            CorruptionError: it is damaged.
        """
        self.prefetch([number])
        found = self._seen[number]
        if isinstance(found, CorruptionError):
            raise found
        return found

    def incarnation(self, number: int) -> str:
        """The incarnation that a manifest belongs to; empty where it cannot be read."""
        self.prefetch([number])
        found = self._seen[number]
        return "" if isinstance(found, CorruptionError) else found.record.lineage.incarnation

    def etags(self, numbers: Iterable[int]) -> dict[int, str]:
        """The versions of manifests that were read."""
        return {number: self.manifest(number).etag for number in numbers}

    def head(self, number: int) -> Head:
        """The state as of this manifest: its full ancestor and every change since.

        Raises:
            CorruptionError: it, or one that it needs, is gone, damaged or of another chain.
        """
        base = self.manifest(number).record.base
        self.prefetch(range(base, number))
        head = Head()
        for step in range(base, number + 1):
            entry = self.manifest(step)
            _check_step(head, entry, base)
            head.advance(entry)
        return head

    def _fetch(self, number: int) -> ChainManifest | CorruptionError:
        try:
            entry = read_twice(lambda: fetch_manifest(self._context, number))
        except NotFoundError:
            return GoneError("a manifest is gone", number=number)
        except CorruptionError as error:
            return error
        if entry.record.kind is Kind.TOMBSTONE:
            return GoneError("a manifest is a tombstone", number=number)
        return entry


def _check_step(head: Head, entry: ChainManifest, base: int) -> None:
    """Each step names its parent by hash, so none can be left out, put in or swapped."""
    if entry.record.base != base:
        raise CorruptionError("a manifest has another base", number=entry.number, expected=base)
    if entry.number == base:
        return
    parent = entry.record.parent
    if parent is None or (parent.number, parent.sha256) != (head.number, head.sha256):
        raise CorruptionError(
            "a manifest does not follow its predecessor", number=entry.number, after=head.number
        )
