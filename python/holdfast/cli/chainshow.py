"""One checkpoint of a chain, for `show`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.chain.claim import adopted
from holdfast.chain.contents import read_files
from holdfast.cli.held import ref_lines
from holdfast.cli.pick import Picked, pick
from holdfast.errors import CorruptionError, NotFoundError
from holdfast.report.detail import CheckpointDetail, listed, of_chain, of_manifest
from holdfast.report.recovery import SkippedPart

if TYPE_CHECKING:
    from holdfast.chain import Chain
    from holdfast.cli.target import Target


def detail(target: Target, checkpoint: str) -> CheckpointDetail:
    """Everything that its manifest says, and all its files."""
    chain = target.chain("show")
    picked = _with_plans(chain, pick(chain, checkpoint))
    context, number = chain.context, picked.head.number
    held = [ref for ref in ref_lines(context) if ref.checkpoint == number]
    return CheckpointDetail(
        store=target.store.url,
        query=target.query,
        format=target.format,
        **of_manifest(picked.entry.manifest, picked.entry.record.notes),
        **of_chain(context, picked.entry, picked.head),
        tags=tuple(ref.name for ref in held if ref.kind == "tag"),
        clones=tuple(ref.name for ref in held if ref.kind == "clone"),
        newer=tuple(SkippedPart(number=found, reason=why) for found, why in picked.newer),
        file_list=listed(picked.head.visible().values(), context),
    )


def _with_plans(chain: Chain, picked: Picked) -> Picked:
    """Where a start would take this one, it shows what the start would: plans not yet run too."""
    if picked.recovery is None:
        return picked
    try:
        plans = adopted(chain.context, picked.recovery)
    except CorruptionError:  # `recover` says so; the checkpoint itself can still be looked at
        return picked
    picked.head.plans.update((plan.batch, plan) for plan in plans)
    return picked


def content(target: Target, checkpoint: str, path: str) -> tuple[int, bytes]:
    """The checkpoint's number, and a file's bytes, compared with their hash."""
    chain = target.chain("show")
    picked = _with_plans(chain, pick(chain, checkpoint))
    if path not in picked.head.visible():
        raise NotFoundError(
            "there is no such file in this checkpoint",
            hint="--files lists them",
            checkpoint=picked.head.number,
            path=path,
        )
    return picked.head.number, read_files(chain.context, picked.head, [path]).get(path, b"")
