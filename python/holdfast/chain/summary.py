"""What retention needs to know of a manifest, kept so that each is read once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from holdfast.chain import rules
from holdfast.chain.read import fetch_manifest, read_twice
from holdfast.errors import CorruptionError, NotFoundError
from holdfast.manifest.record import ChainManifest, Kind, Parent
from holdfast.objectstore.parallel import gather

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.chain.context import Context
    from holdfast.chain.read import Listing
    from holdfast.ids import Writer
    from holdfast.manifest.files import ObjectRef
    from holdfast.manifest.recap import Recap


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """One manifest; without a kind it is there and cannot be read."""

    kind: Kind | None = None
    base: int = 0
    sha256: str = ""
    parent: Parent | None = None
    writer: Writer | None = None
    incarnation: str = ""
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
    return Summary(
        kind=record.kind,
        base=record.base,
        sha256=entry.sha256,
        parent=record.parent,
        writer=record.writer,
        incarnation=record.lineage.incarnation,
        claim=record.claim,
        timestamp_ms=entry.manifest.timestamp_ms,
        named=record.named(),
    )


class Summaries:
    """Summaries by number, each good as long as the listing shows the same version.

    `_fulls` are manifests that tell of those before them, so they are read first.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._known: dict[int, tuple[str, Summary]] = {}
        self._fulls: set[int] = set()

    def learn(self, entry: ChainManifest) -> None:
        """Take note of a manifest, and of what it tells of others."""
        self._known[entry.number] = (entry.etag, summarise(entry))
        self._fulls.add(entry.record.base)
        recap = entry.record.recap
        if recap is not None:
            self._fulls.update((recap.base, *recap.fulls))
            for number, (etag, summary) in _retold(recap).items():
                self._known.setdefault(number, (etag, summary))

    def known(self, number: int) -> Summary:
        return self._known[number][1]

    def of(self, listing: Listing) -> dict[int, Summary]:
        """A summary for everything listed that is still there, ascending."""
        gone: set[int] = set()
        self._fulls.add(listing.highest)  # whatever it is, it tells where the last full one is
        while wanted := self._unknown(listing, gone):
            telling = [number for number in wanted if number in self._fulls]
            gone |= self._read(telling or wanted, listing)
        self._forget(set(listing.numbers) - gone)
        return {n: self._known[n][1] for n in listing.numbers if n not in gone}

    def valid(self, summaries: Mapping[int, Summary], stored: Mapping[str, int]) -> list[int]:
        """The numbers whose chain to its full ancestor is whole, with all that it names."""
        whole: dict[int, Summary] = {}
        for number, summary in summaries.items():
            follows = summary.base == number or _follows(summary, whole.get(number - 1))
            alive = summary.is_readable and not summary.is_tombstone
            if alive and follows and self._has_objects(summary, stored):
                whole[number] = summary
        return list(whole)

    def _has_objects(self, summary: Summary, stored: Mapping[str, int]) -> bool:
        """Objects of other queries are those queries' to keep; here they count as present."""
        context = self._context
        return all(
            ref.key.startswith("/") or stored.get(context.key_of(ref.key)) == ref.size
            for ref in summary.named
        )

    def _unknown(self, listing: Listing, gone: set[int]) -> list[int]:
        return [
            number
            for number, meta in listing.numbers.items()
            if number not in gone and self._known.get(number, (None,))[0] != meta.etag
        ]

    def _read(self, numbers: list[int], listing: Listing) -> set[int]:
        """Read these, and return those that are gone; each is then known as it was listed."""
        found = gather(self._fetch, numbers, parallel=self._context.settings.parallel)
        gone = set()
        for number, entry in zip(numbers, found, strict=True):
            if entry is None:
                gone.add(number)
            else:
                etag = listing.numbers[number].etag
                if isinstance(entry, ChainManifest):
                    self.learn(replace(entry, etag=etag))
                else:
                    self._known[number] = (etag, Summary())
        return gone

    def _fetch(self, number: int) -> ChainManifest | CorruptionError | None:
        try:
            return read_twice(lambda: fetch_manifest(self._context, number))
        except NotFoundError:
            return None
        except CorruptionError as error:
            return error

    def _forget(self, listed: set[int]) -> None:
        """Drop what is gone; what is above the listing was learnt since."""
        highest = max(listed, default=0)
        for number in set(self._known) - listed:
            if number < highest:
                del self._known[number]
        # In place: the thread that commits adds to it.
        self._fulls.difference_update(
            [n for n in tuple(self._fulls) if n < highest and n not in listed]
        )


def _retold(recap: Recap) -> dict[int, tuple[str, Summary]]:
    """The commits that a full manifest tells of, each with its version."""
    told = {}
    before = recap.sha256
    for number, step in enumerate(recap.steps, recap.base + 1):
        told[number] = (
            step.etag,
            Summary(
                kind=Kind.COMMIT,
                base=recap.base,
                sha256=step.sha256,
                parent=Parent(number=number - 1, sha256=before),
                claim=recap.claim,
                named=step.named,
            ),
        )
        before = step.sha256
    return told


def _follows(summary: Summary, before: Summary | None) -> bool:
    return (
        before is not None
        and summary.parent is not None
        and summary.parent.sha256 == before.sha256
        and summary.base == before.base
    )
