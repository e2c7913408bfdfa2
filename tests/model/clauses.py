"""The protocol with one clause taken out: each must break, and the schedule shows why."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from holdfast.chain import claim as claim_module
from holdfast.chain import remove as remove_module
from holdfast.chain import retain as retain_module
from holdfast.chain import rollback as rollback_module
from holdfast.chain import rules
from holdfast.chain.compose import Change, compose
from holdfast.chain.read import list_intents, list_manifests
from holdfast.chain.refs import CheckpointSource, Ref, RefListing, Source
from holdfast.chain.retain import Retainer, RetentionReport
from holdfast.chain.rollback import reset
from holdfast.chain.writer import ChainWriter
from holdfast.manifest.record import Kind, decode_chain_manifest
from holdfast.objectstore import scan
from tests.model import actors as actors_module
from tests.model.bounds import Bounds

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    from holdfast.chain.context import Context

QUIET = Bounds(crashes=0, lost_replies=0)
REMOVE_BELOW = Retainer.remove_below


@dataclass(frozen=True, kw_only=True)
class Clause:
    """What is taken out, and the bounds within which that is found; or the story that shows it."""

    name: str
    owner: Any
    attribute: str
    instead: Callable[..., Any]
    bounds: Bounds
    breaks: str
    story: tuple[str, ...] = ()
    also: tuple[tuple[Any, str, Callable[..., Any]], ...] = ()

    def take_out(self, patch: pytest.MonkeyPatch) -> None:
        patch.setattr(self.owner, self.attribute, self.instead)
        for owner, attribute, instead in self.also:
            patch.setattr(owner, attribute, instead)


def without_ref(context: Context, origin: Source, key: str) -> Ref:
    """`refs.hold`, but nothing is put and nothing is read again."""
    head = origin.head
    change = Change(
        kind=Kind.TAG,
        number=head.number,
        claim=head.claim,
        lineage=head.lineage,
        batch=head.batch,
        full=True,
        facts=head.facts,
        notes=head.notes,
        always_inline=True,
    )
    body = compose(context, head, change).body
    entry = decode_chain_manifest(body, number=None, query=context.query)
    return Ref(key=key, name="", is_clone=False, incarnation="", entry=entry)


def remove_all_manifests(self: Retainer, fence: int) -> RetentionReport:
    """`Retainer.remove_below`, but the numbers of earlier claims are freed, too."""
    report = REMOVE_BELOW(self, fence)
    context = self._context
    numbers = (number for number in list_manifests(context).numbers if number < fence)
    intents = (number for number in list_intents(context) if number < fence)
    context.store.delete(
        [
            *map(context.keys.manifest, numbers),
            *map(context.keys.intent, intents),
        ]
    )
    return report


def remove_everything(self: Retainer, fence: int) -> RetentionReport:
    """`Retainer.remove_below`, but what was committed since is deleted, too."""
    listing = list_manifests(self._context)
    summaries = self._summaries.of(listing)
    decision = self._decide(listing, summaries, self._stored(), listing.highest + 1)
    doomed = tuple(number for number in decision.doomed if number != fence)
    return self._run(replace(decision, doomed=doomed), dry_run=False)


def purge_all(context: Context, last: int) -> None:
    """`remove._purge`, but the fence goes, too."""
    context.store.delete([meta.key for meta in scan(context.store, context.keys.root)])


def list_above_late(context: Context, number: int) -> tuple[list[int], list[int]]:
    """`claim._list_above`, but manifests first."""
    manifests = list(list_manifests(context, above=number).numbers)
    return list_intents(context, above=number), manifests


CLAUSES = [
    Clause(
        name="a claim's number is never freed",
        owner=rules,
        attribute="holds_its_number",
        instead=lambda kind: False,
        bounds=replace(QUIET, batches=3, retentions=1, full_every=1),
        breaks="I4",
    ),
    Clause(
        name="a claim is listed once more",
        owner=rules,
        attribute="is_highest",
        instead=lambda number, listed: True,
        bounds=replace(QUIET, batches=1, inline=True),
        breaks="I5",
    ),
    Clause(
        name="all plans above the head are adopted",
        owner=rules,
        attribute="numbers_to_adopt",
        instead=lambda valid, claimed: range(claimed, claimed + 1),
        bounds=replace(QUIET, corruptions=1),
        breaks="I2",
    ),
    Clause(
        name="an old listing is listed again",
        owner=rules,
        attribute="must_list_again",
        instead=lambda *, gone, settled: False,
        bounds=replace(QUIET, batches=1, retentions=1, full_every=1, inline=True),
        breaks="I5",
    ),
    Clause(
        name="a claim's pack has a key of its own",
        owner=rules,
        attribute="pack_has_number_key",
        instead=lambda kind: True,
        bounds=replace(QUIET, batches=3, growing=True, full_every=9),
        breaks="I5",
    ),
    Clause(
        name="only valid checkpoints count as kept",
        owner=rules,
        attribute="oldest_to_keep",
        instead=lambda listed, valid, keep: sorted(listed)[-keep],
        bounds=replace(QUIET, retentions=1, corruptions=1, full_every=1),
        breaks="I1",
    ),
    Clause(
        name="an intent goes only below the oldest kept manifest",
        owner=rules,
        attribute="intent_is_old",
        instead=lambda number, oldest_kept: True,
        bounds=Bounds(retentions=1, full_every=1, crashes=1, lost_replies=0),
        breaks="I2",
    ),
    Clause(
        name="a pack in flight is not garbage",
        owner=rules,
        attribute="pack_is_decided",
        instead=lambda number, highest: True,
        bounds=replace(QUIET, retentions=1, full_every=1),
        breaks="I3",
    ),
    Clause(
        name="a rollback that cannot be read stops recovery",
        owner=rules,
        attribute="walks_over_rollback",
        instead=lambda valid, highest, rollbacks: False,
        bounds=replace(QUIET, drivers=1, starts=1, rollbacks=1, corruptions=1),
        breaks="I5",
    ),
    Clause(
        name="a carried plan is not replaced",
        owner=rules,
        attribute="plan_differs",
        instead=lambda carried, batch, digest: False,
        bounds=replace(QUIET, corruptions=1),
        breaks="I2",
    ),
    Clause(
        name="a rollback holds its target by a ref",
        owner=rollback_module,
        attribute="hold",
        instead=without_ref,
        bounds=replace(
            QUIET, drivers=1, starts=1, batches=3, rollbacks=1, retentions=1, full_every=1
        ),
        breaks="I5",
    ),
    Clause(
        name="a tag counts only if its manifest is still there",
        owner=CheckpointSource,
        attribute="is_still_there",
        instead=lambda self: True,
        bounds=replace(QUIET, drivers=1, starts=1, batches=3, tags=1, retentions=1, full_every=1),
        breaks="I6",
    ),
    Clause(
        name="of two retentions at once, one deletes no objects",
        owner=rules,
        attribute="another_retires",
        instead=lambda kept, present: False,
        bounds=replace(QUIET, drivers=1, starts=1, batches=4, tags=1, retentions=2, full_every=1),
        breaks="I6",
    ),
    Clause(
        name="a pack is durable before the manifest that names it",
        owner=ChainWriter,
        attribute="_put_pack",
        instead=lambda self, context, draft: None,
        bounds=QUIET,
        breaks="I3",
    ),
    Clause(
        name="a removal leaves the fences of earlier claims",
        owner=Retainer,
        attribute="remove_below",
        instead=remove_all_manifests,
        bounds=replace(QUIET, starts=3, removals=1),
        breaks="I4",
        story=(
            "A = start",
            "A until put create intents/intent-000002",
            "B = start",
            "B ends",
            "X = rm",
            "X ends",
            "C = start",
            "C ends",
            "A ends",
        ),
    ),
    Clause(
        name="a removal deletes only what is older than its fence",
        owner=Retainer,
        attribute="remove_below",
        instead=remove_everything,
        bounds=replace(QUIET, starts=2, removals=1),
        breaks="I1",
        story=(
            "A = start",
            "A ends",
            "X = rm",
            "X until list refs/",
            "X once",
            "X until list refs/",
            "B = start",
            "B ends",
            "X ends",
        ),
    ),
    Clause(
        name="a removal keeps what a clone that was made meanwhile needs",
        owner=retain_module,
        attribute="read_settled_refs",
        instead=lambda context: [],
        bounds=replace(QUIET, starts=1, batches=3, tags=1, clones_of_tags=1, removals=1),
        breaks="I6",
        story=(
            "A = start",
            "A ends",
            "T = tag 2",
            "T ends",
            "C = clone-of-tag",
            "C until put create refs/clones",
            "X = rm",
            "X until put create intents/intent-000005",
            "C until put create copy/manifests",
            "X ends",
            "C ends",
        ),
    ),
    Clause(
        name="the claim in force is that of the highest manifest",
        owner=rules,
        attribute="claim_in_force",
        instead=lambda claims: max(claims.values(), default=0),
        bounds=replace(QUIET, batches=5, retentions=2, crashes=1, large=True, full_every=1),
        breaks="I3",
        story=(
            "A = start",
            "A until put create intents/intent-000003",
            "B = start",
            "B until put create intents/intent-000003",
            "A until put create intents/intent-000005",
            "R = retain",
            "R ends",
            "B until list intents/",
            "B dies",
            "A until put create manifests/manifest-000005",
            "S = retain",
            "S ends",
            "A ends",
        ),
    ),
    Clause(
        name="refs that change while they are read protect everything",
        owner=rules,
        attribute="refs_are_settled",
        instead=lambda before, after, *, all_read: True,
        bounds=replace(
            QUIET,
            drivers=1,
            starts=1,
            batches=3,
            tags=1,
            tags_of_tags=1,
            untags=1,
            retentions=2,
            full_every=1,
        ),
        breaks="I6",
        story=(
            "A = start",
            "A ends",
            "T = tag 2",
            "T ends",
            "R = retain",
            "R until get refs/tags/t@000001",
            "N = tag-of-tag",
            "N ends",
            "G = untag",
            "G ends",
            "R ends",
        ),
    ),
    Clause(
        name="refs that change while they are listed protect everything",
        owner=rules,
        attribute="refs_are_settled",
        instead=lambda before, after, *, all_read: True,
        bounds=replace(
            QUIET,
            drivers=1,
            starts=1,
            batches=3,
            tags=1,
            tags_of_tags=1,
            untags=1,
            resets=1,
            retentions=2,
            full_every=1,
            page=1,
        ),
        breaks="I6",
        story=(
            "A = start",
            "A ends",
            "T = tag 2",
            "T ends",
            "Z = reset",
            "Z ends",
            "R = retain",
            "R until list refs/",
            "R once",
            "N = tag-of-tag",
            "N ends",
            "G = untag",
            "G ends",
            "R ends",
        ),
    ),
    Clause(
        name="a ref counts only if every manifest from its base on is still there",
        owner=rules,
        attribute="ref_is_in_time",
        instead=lambda seen, present: present.get(max(seen)) == seen[max(seen)],
        bounds=replace(
            QUIET,
            drivers=1,
            starts=1,
            batches=5,
            crashes=1,
            tags=1,
            retentions=1,
            sweeps=1,
            window=2,
            full_every=5,
        ),
        breaks="I6",
        story=(
            "A = start",
            "A ends",
            "T = tag 4",
            "T until put create refs/tags",
            "R = retain",
            "R until delete manifests/manifest-000002",
            "R dies at half 0",
            "S = sweep",
            "S ends",
            "T ends",
        ),
    ),
    Clause(
        name="a tag that is made again has a new key",
        owner=RefListing,
        attribute="generation",
        instead=lambda self, name: 0,
        also=((rules, "is_removed", lambda generation, removed: False),),
        bounds=replace(QUIET, starts=1, batches=3, tags=2, untags=1, late=1, retentions=1),
        breaks="I6",
        story=(
            "A = start",
            "A ends",
            "T = tag 2",
            "T ends",
            "G = untag",
            "G until delete refs/tags/t@000001.json",
            "G gives up",
            "G ends",
            "U = tag 2",
            "U ends",
            "deliver delete refs/tags/t@000001.json",
        ),
    ),
    Clause(
        name="a purge leaves the fence",
        owner=remove_module,
        attribute="_purge",
        instead=purge_all,
        bounds=replace(QUIET, drivers=1, starts=2, late=2, purges=1, full_every=1),
        breaks="I",
        story=(
            "A = start",
            "A until put create manifests/manifest-000003",
            "A gives up",
            "A gives up",
            "A ends",
            "P = purge",
            "P ends",
            "B = start",
            "B until put create intents/intent-000003",
            "deliver put create manifests/manifest-000003",
        ),
    ),
    Clause(
        name="a reset is decided after its claim",
        owner=actors_module,
        attribute="reset",
        instead=lambda context, name, unless: reset(context, name),
        bounds=replace(QUIET, starts=3, configs=True),
        breaks="I8",
    ),
    Clause(
        name="a claim lists intents before manifests",
        owner=claim_module,
        attribute="_list_above",
        instead=list_above_late,
        bounds=replace(QUIET, drivers=4, starts=4, batches=4),
        breaks="I1",
        story=(
            "W = start",
            "W until put create manifests/manifest-000001",
            "A = start",
            "A until list manifests/ after q/manifests/manifest-000001",
            "A once",
            "X = start",
            "X until put create intents/intent-000004",
            "W until put create intents/intent-000004",
            "W once",
            "A ends",
            "X ends",
        ),
    ),
    Clause(
        name="a rollback goes back only within one incarnation",
        owner=rules,
        attribute="is_foreign",
        instead=lambda expected, incarnation: False,
        bounds=replace(QUIET, drivers=1, starts=2, removals=1, rollbacks=1),
        breaks="I",
        story=(
            "A = start",
            "A ends",
            "O = rollback 2",
            "O until list manifests/",
            "O once",
            "O until list manifests/",
            "X = rm",
            "X ends",
            "B = start",
            "B ends",
            "O ends",
        ),
    ),
]
