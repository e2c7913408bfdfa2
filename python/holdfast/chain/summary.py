"""What retention needs to know of a manifest, kept so that each is read once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.chain import rules
from holdfast.chain.read import read_twice
from holdfast.errors import CorruptionError, NotFoundError
from holdfast.manifest.record import ChainManifest, Kind, Parent, decode_chain_manifest
from holdfast.objectstore.parallel import gather

if TYPE_CHECKING:
    from holdfast.chain.context import Context
    from holdfast.chain.read import Listing
    from holdfast.ids import Writer
    from holdfast.manifest.files import ObjectRef


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """One manifest; without a kind it is there and cannot be read."""

    kind: Kind | None = None
    base: int = 0
    sha256: str = ""
    parent: Parent | None = None
    writer: Writer | None = None
    claim: int = 0
    timestamp_ms: int = 0
    named: frozenset[ObjectRef] = frozenset()

    @property
    def is_readable(self) -> bool:
        return self.kind is not None

    @property
    def is_tombstone(self) -> bool:
        return self.kind is Kind.TOMBSTONE

    @property
    def holds_its_number(self) -> bool:
        """One that cannot be read may be a claim."""
        return self.kind is None or rules.holds_its_number(self.kind)

    def keys(self, context: Context) -> set[str]:
        """The store's keys of the objects that it names."""
        return {context.key_of(ref.key) for ref in self.named}


def summarise(entry: ChainManifest) -> Summary:
    """What is worth remembering."""
    record = entry.record
    tables = [record.files, *(plan.files for plan in record.plans)]
    return Summary(
        kind=record.kind,
        base=record.base,
        sha256=entry.sha256,
        parent=record.parent,
        writer=record.writer,
        claim=record.claim,
        timestamp_ms=entry.manifest.timestamp_ms,
        named=frozenset(
            ref for table in tables for ref in table.refs if ref is not None and ref.key
        ),
    )


class Summaries:
    """Summaries by number, each good as long as the listing shows the same version."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._known: dict[int, tuple[str, Summary]] = {}

    def learn(self, entry: ChainManifest, etag: str) -> None:
        self._known[entry.number] = (etag, summarise(entry))

    def known(self, number: int) -> Summary:
        return self._known[number][1]

    def of(self, listing: Listing) -> dict[int, Summary]:
        """A summary for everything listed that is still there, ascending."""
        wanted = [
            number
            for number, meta in listing.numbers.items()
            if self._known.get(number, ("",))[0] != meta.etag
        ]
        fetched = gather(self._fetch, wanted, parallel=self._context.settings.parallel)
        for number, summary in zip(wanted, fetched, strict=True):
            if summary is not None:
                self._known[number] = (listing.numbers[number].etag, summary)
        gone = {n for n, summary in zip(wanted, fetched, strict=True) if summary is None}
        self._forget(set(listing.numbers) - gone)
        return {n: self._known[n][1] for n in listing.numbers if n not in gone}

    def valid(self, summaries: dict[int, Summary], stored: dict[str, int]) -> list[int]:
        """The numbers whose chain to its full ancestor is whole, with all that it names."""
        whole: dict[int, Summary] = {}
        for number, summary in summaries.items():
            follows = summary.base == number or _follows(summary, whole.get(number - 1))
            alive = summary.is_readable and not summary.is_tombstone
            if alive and follows and self._has_objects(summary, stored):
                whole[number] = summary
        return list(whole)

    def _has_objects(self, summary: Summary, stored: dict[str, int]) -> bool:
        """Objects of other queries are those queries' to keep; here they count as present."""
        context = self._context
        return all(
            ref.key.startswith("/") or stored.get(context.key_of(ref.key)) == ref.size
            for ref in summary.named
        )

    def _fetch(self, number: int) -> Summary | None:
        context = self._context

        def read() -> Summary:
            body = context.store.get(context.keys.manifest(number)).body
            return summarise(decode_chain_manifest(body, number=number, query=context.query))

        try:
            return read_twice(read)
        except NotFoundError:
            return None
        except CorruptionError:
            return Summary()

    def _forget(self, listed: set[int]) -> None:
        """Drop what is gone; what is above the listing was learnt since."""
        for number in set(self._known) - listed:
            if number < max(listed, default=0):
                del self._known[number]


def _follows(summary: Summary, before: Summary | None) -> bool:
    return (
        before is not None
        and summary.parent is not None
        and summary.parent.sha256 == before.sha256
        and summary.base == before.base
    )
