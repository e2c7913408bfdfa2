"""Retention: what no kept checkpoint, tag or clone reaches is deleted, and nothing else.

Order: delete manifests, then list refs, then list manifests, then delete objects. Whoever wants
to keep an old checkpoint puts a ref before it reads the manifest again, so one of the two sees
the other. Where a second run deletes manifests at the same time, neither listing may show what
is kept: then this run deletes no object, and leaves that to the next.

Failure: killed anywhere → objects that nothing names stay, and the next run finds them.
Any store error stops the run before anything is deleted that was not yet proven garbage.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from holdfast.chain import rules
from holdfast.chain.foreign import release, roots_named
from holdfast.chain.read import Listing, list_intents, list_manifests
from holdfast.chain.refs import read_refs
from holdfast.chain.summary import Summaries
from holdfast.chain.tombstone import encode_tombstone
from holdfast.layout import Kind as KeyKind
from holdfast.manifest.record import decode_chain_manifest
from holdfast.objectstore import scan

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from holdfast.chain.context import Context
    from holdfast.chain.summary import Summary
    from holdfast.manifest.files import ObjectRef
    from holdfast.manifest.record import ChainManifest


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionReport:
    """What was deleted, or would be; `kept_from` is the oldest manifest that stays."""

    kept_from: int
    manifests: tuple[int, ...] = ()
    tombstones: tuple[int, ...] = ()
    intents: int = 0
    objects: tuple[str, ...] = ()
    bytes_freed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Decision:
    """What a run found before it changed anything."""

    listing: Listing
    stored: dict[str, int]
    oldest_kept: int
    kept: frozenset[int] = frozenset()
    fences: frozenset[int] = frozenset()
    doomed: tuple[int, ...] = ()
    newest_claim: int = 0
    retired: frozenset[str] = field(default_factory=frozenset)
    roots: frozenset[str] = field(default_factory=frozenset)


class Retainer:
    """Runs retention for one chain and remembers what it has read."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._summaries = Summaries(context)
        self._swept_intents = False

    def learn(self, entry: ChainManifest) -> None:
        """Take note of a manifest that this process wrote, so that it need not be read."""
        self._summaries.learn(entry)

    def run(self, keep: int | None, *, dry_run: bool = False) -> RetentionReport:
        """Keep the newest `keep` valid checkpoints; None keeps all, and only sweeps orphans.

        Raises:
            CorruptionError: a ref cannot be read, so nothing can be proven to be garbage.
            StoreError, UnavailableError: the store said no, or nothing; run it again.
        """
        listing = list_manifests(self._context)
        if keep is not None and len(listing.numbers) <= keep:
            return RetentionReport(kept_from=min(listing.numbers, default=0))
        decision = self._decide(listing, keep)
        fences = tuple(n for n in decision.doomed if n in decision.fences)
        plain = tuple(n for n in decision.doomed if n not in decision.fences)
        intents = self._old_intents(decision, plain)
        if not dry_run:
            self._retire(fences, plain)
        gone = frozenset(decision.doomed) if dry_run else frozenset()
        reached = self._reached(decision.kept, gone)
        garbage = self._garbage(decision, reached)
        if not dry_run:
            self._context.store.delete([*map(self._context.keys.intent, intents), *garbage])
            self._release(decision.roots, reached)
        return RetentionReport(
            kept_from=decision.oldest_kept,
            manifests=plain,
            tombstones=fences,
            intents=len(intents),
            objects=tuple(garbage),
            bytes_freed=sum(decision.stored[key] for key in garbage),
        )

    def release(self, roots: Iterable[str]) -> None:
        """Drop the refs at these other queries, but where their objects are still named here.

        Raises:
            CorruptionError, StoreError, UnavailableError: as `run`; the refs stay.
        """
        if roots:
            before = self._summaries.of(list_manifests(self._context))
            self._release(roots, self._reached(_alive(before), frozenset()))

    def _decide(self, listing: Listing, keep: int | None) -> _Decision:
        summaries = self._summaries.of(listing)
        scanned = scan(self._context.store, self._context.keys.checkpoints)
        stored = {meta.key: meta.size for meta in scanned}
        valid = self._summaries.valid(summaries, stored)
        wanted = len(listing.numbers) if keep is None else keep
        start = rules.oldest_to_keep(listing.numbers, valid, wanted)
        bases = (s.base for number, s in summaries.items() if number >= start and s.is_readable)
        oldest_kept = min(start, *bases, start)
        doomed = tuple(
            number
            for number, summary in summaries.items()
            if number < oldest_kept and not summary.is_tombstone
        )
        retired = (key for number in doomed for key in summaries[number].keys(self._context))
        return _Decision(
            listing=listing,
            stored=stored,
            oldest_kept=oldest_kept,
            kept=_alive(summaries) - set(doomed),
            fences=frozenset(n for n, summary in summaries.items() if summary.holds_its_number),
            doomed=doomed,
            newest_claim=max((summary.claim for summary in summaries.values()), default=0),
            retired=frozenset(retired),
            roots=frozenset(roots_named(ref for n in doomed for ref in summaries[n].named)),
        )

    def _retire(self, fences: Iterable[int], plain: Iterable[int]) -> None:
        """Numbers of claims become tombstones; the others are freed, the oldest first."""
        context = self._context
        for number in fences:
            body = encode_tombstone(context, number, self._summaries.known(number))
            meta = context.store.put(context.keys.manifest(number), body)
            entry = decode_chain_manifest(body, number=number, query=context.query)
            self._summaries.learn(replace(entry, etag=meta.etag))
        context.store.delete([context.keys.manifest(number) for number in plain])

    def _old_intents(self, decision: _Decision, plain: tuple[int, ...]) -> list[int]:
        """Intents below the oldest kept manifest, but for those of claims.

        A run that was cut short may have left some of numbers that are gone: the first run of
        each process lists them all.
        """
        numbers = plain if self._swept_intents else tuple(list_intents(self._context))
        self._swept_intents = True
        return [
            number
            for number in numbers
            if number not in decision.fences and rules.intent_is_old(number, decision.oldest_kept)
        ]

    def _reached(self, kept: frozenset[int], gone: frozenset[int]) -> frozenset[ObjectRef] | None:
        """All that refs and manifests name now; None if that is not known.

        Refs first: one that is let go in between has its manifest, which the second listing shows.
        """
        refs = read_refs(self._context)
        now = self._summaries.of(list_manifests(self._context))
        if rules.another_retires(kept, _alive(now)):
            return None
        there = [summary for number, summary in now.items() if number not in gone]
        if not all(summary.is_readable for summary in there):
            return None  # what it names is not known, and it may be restored from a backup
        return frozenset().union(*(ref.named() for ref in refs), *(each.named for each in there))

    def _garbage(self, decision: _Decision, reached: frozenset[ObjectRef] | None) -> list[str]:
        """Keys that were stored at the start and that nothing names now."""
        if reached is None:
            return []
        named = {self._context.key_of(ref.key) for ref in reached}
        return sorted(
            key for key in decision.stored if key not in named and self._is_garbage(key, decision)
        )

    def _is_garbage(self, key: str, decision: _Decision) -> bool:
        """Whether an object that nothing names can never be named again."""
        parsed = self._context.keys.parse(key)
        if parsed is None:
            return False
        if parsed.kind is KeyKind.STATE:
            return rules.pack_is_decided(parsed.number, decision.listing.highest)
        if parsed.kind is KeyKind.FILE:
            # What a retired manifest named was committed once, so it is not in flight.
            abandoned = rules.file_is_abandoned(parsed.number, decision.newest_claim)
            return abandoned or key in decision.retired
        return False

    def _release(self, roots: Iterable[str], reached: frozenset[ObjectRef] | None) -> None:
        """Drop the refs at other queries whose objects nothing here names any more."""
        if reached is not None:
            release(self._context, set(roots) - roots_named(reached))


def _alive(summaries: Mapping[int, Summary]) -> frozenset[int]:
    """The numbers that are not retired; one that cannot be read is not."""
    return frozenset(number for number, each in summaries.items() if not each.is_tombstone)
