"""Retention: what no kept checkpoint, tag or clone reaches is deleted, and nothing else.

Order: delete manifests, then list refs, then list manifests, then delete objects. Whoever wants
to keep an old checkpoint puts a ref before it lists the manifests again, so one of the two sees
the other. A run deletes no object, and leaves that to the next, where it cannot be sure of what is
kept: a second run deletes manifests at the same time, refs change while they are read, or a
manifest cannot be read.

Failure: killed anywhere → objects that nothing names stay, and the next run finds them.
Any store error stops the run before anything is deleted that was not yet proven garbage.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from holdfast.chain import rules
from holdfast.chain.foreign import release, roots_named
from holdfast.chain.read import Listing, list_intents, list_manifests
from holdfast.chain.refs import read_settled_refs
from holdfast.chain.summary import Summaries
from holdfast.chain.tombstone import encode_tombstone
from holdfast.errors import PreconditionError, UnavailableError
from holdfast.layout import Kind as KeyKind
from holdfast.manifest.record import decode_chain_manifest
from holdfast.objectstore import PutMode, scan

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from holdfast.chain.context import Context
    from holdfast.chain.summary import Summary
    from holdfast.manifest.files import ObjectRef
    from holdfast.manifest.record import ChainManifest
    from holdfast.objectstore import ObjectMeta


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionReport:
    """What was deleted, or would be; `kept_from` is the oldest manifest that stays.

    `is_complete` is false where objects stay because it was not certain what is kept.
    """

    kept_from: int
    is_complete: bool = True
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
    claim_in_force: int = 0
    incarnation: str = ""
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
        summaries = self._summaries.of(listing)
        stored = self._stored()
        oldest_kept = self._oldest_to_keep(listing, summaries, stored, keep)
        return self._run(self._decide(listing, summaries, stored, oldest_kept), dry_run=dry_run)

    def remove_below(self, fence: int) -> RetentionReport:
        """Keep everything from one number on, and nothing before it.

        Raises:
            As `run`.
        """
        listing = list_manifests(self._context)
        summaries = self._summaries.of(listing)
        return self._run(self._decide(listing, summaries, self._stored(), fence), dry_run=False)

    def _run(self, decision: _Decision, *, dry_run: bool) -> RetentionReport:
        fences = tuple(n for n in decision.doomed if n in decision.fences)
        plain = tuple(n for n in decision.doomed if n not in decision.fences)
        intents = self._old_intents(decision, plain)
        if not dry_run:
            self._retire(fences, plain, decision.listing)
        gone = frozenset(decision.doomed) if dry_run else frozenset()
        reached = self._reached(decision.kept, gone)
        garbage = self._garbage(decision, reached)
        if not dry_run:
            self._context.store.delete([*map(self._context.keys.intent, intents), *garbage])
            self._release(decision.incarnation, decision.roots, reached)
        return RetentionReport(
            kept_from=decision.oldest_kept,
            is_complete=reached is not None,
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
            reached = self._reached(_alive(before), frozenset())
            self._release(_incarnation(before), roots, reached)

    def _stored(self) -> dict[str, int]:
        """Sizes of all packs and files."""
        scanned = scan(self._context.store, self._context.keys.checkpoints)
        return {meta.key: meta.size for meta in scanned}

    def _oldest_to_keep(
        self,
        listing: Listing,
        summaries: Mapping[int, Summary],
        stored: Mapping[str, int],
        keep: int | None,
    ) -> int:
        """The oldest of the newest `keep` valid ones, or what one of those builds on."""
        valid = self._summaries.valid(summaries, stored)
        wanted = len(listing.numbers) if keep is None else keep
        start = rules.oldest_to_keep(listing.numbers, valid, wanted)
        bases = (s.base for number, s in summaries.items() if number >= start and s.is_readable)
        return min(start, *bases, start)

    def _decide(
        self,
        listing: Listing,
        summaries: Mapping[int, Summary],
        stored: dict[str, int],
        oldest_kept: int,
    ) -> _Decision:
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
            claim_in_force=rules.claim_in_force({n: s.claim for n, s in summaries.items()}),
            incarnation=_incarnation(summaries),
            retired=frozenset(retired),
            roots=frozenset(roots_named(ref for n in doomed for ref in summaries[n].named)),
        )

    def _retire(self, fences: Iterable[int], plain: Iterable[int], listing: Listing) -> None:
        """Free the numbers of commits, then turn claims into tombstones, the newest first.

        So a manifest outlives those that build on it.
        """
        context = self._context
        numbers = sorted(plain, reverse=True)
        context.store.delete([context.keys.manifest(number) for number in numbers])
        for number in sorted(fences, reverse=True):
            body = encode_tombstone(context, number, self._summaries.known(number))
            meta = self._put_tombstone(number, body, listing.numbers[number].etag)
            entry = decode_chain_manifest(body, number=number, query=context.query)
            self._summaries.learn(replace(entry, etag=meta.etag))

    def _put_tombstone(self, number: int, body: bytes, etag: str) -> ObjectMeta:
        """Over the version that was listed: a put that arrives late overwrites nothing else."""
        key = self._context.keys.manifest(number)
        try:
            return self._context.store.put(key, body, mode=PutMode.if_match(etag))
        except PreconditionError as error:
            raise UnavailableError(
                "a manifest changed while it was retired", hint="run it again", key=key
            ) from error

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
        refs = read_settled_refs(self._context)
        now = self._summaries.of(list_manifests(self._context))
        if refs is None or rules.another_retires(kept, _alive(now)):
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
            abandoned = rules.file_is_abandoned(parsed.number, decision.claim_in_force)
            return abandoned or key in decision.retired
        return False

    def _release(
        self, incarnation: str, roots: Iterable[str], reached: frozenset[ObjectRef] | None
    ) -> None:
        """Drop the refs at other queries whose objects nothing here names any more."""
        if reached is not None:
            release(self._context, incarnation, set(roots) - roots_named(reached))


def _alive(summaries: Mapping[int, Summary]) -> frozenset[int]:
    """The numbers that are not retired; one that cannot be read is not."""
    return frozenset(number for number, each in summaries.items() if not each.is_tombstone)


def _incarnation(summaries: Mapping[int, Summary]) -> str:
    """That of the highest manifest."""
    return summaries[max(summaries)].incarnation if summaries else ""
