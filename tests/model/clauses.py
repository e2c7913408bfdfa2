"""The protocol with one clause taken out: each must break, and the schedule shows why."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from holdfast.chain import rollback as rollback_module
from holdfast.chain import rules
from holdfast.chain.compose import Change, compose
from holdfast.chain.refs import Ref, Source
from holdfast.chain.writer import ChainWriter
from holdfast.manifest.record import Kind, decode_chain_manifest
from tests.model.chainworld import Bounds

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    from holdfast.chain.context import Context

QUIET = Bounds(crashes=0, lost_replies=0)


@dataclass(frozen=True, kw_only=True)
class Clause:
    """What is taken out, and the bounds within which that is found."""

    name: str
    owner: Any
    attribute: str
    instead: Callable[..., Any]
    bounds: Bounds
    breaks: str

    def take_out(self, patch: pytest.MonkeyPatch) -> None:
        patch.setattr(self.owner, self.attribute, self.instead)


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
    return Ref(key=key, name="", is_clone=False, entry=entry)


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
        breaks="I5",
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
        owner=Source,
        attribute="is_still_there",
        instead=lambda self, store: True,
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
        instead=lambda self, draft: None,
        bounds=QUIET,
        breaks="I3",
    ),
]
