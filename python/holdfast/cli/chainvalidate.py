"""Validating a chain: every checkpoint that is kept, every tag, every clone's ref."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.chain.history import Validation, Validator, history, missing
from holdfast.chain.objects import needed
from holdfast.cli.held import Held, held
from holdfast.cli.need import checkpoint_or_tag, need_checkpoint
from holdfast.cli.pick import read_tag
from holdfast.clock import SYSTEM_CLOCK
from holdfast.report.documents import IssuePart
from holdfast.report.verdicts import ValidationReport, Verdict

if TYPE_CHECKING:
    from holdfast.chain import Chain
    from holdfast.chain.history import Progress
    from holdfast.cli.output import Output
    from holdfast.cli.target import Target


def chain_report(
    target: Target, checkpoint: str, output: Output, *, deep: bool
) -> ValidationReport:
    """The verdicts, newest first; a ref that cannot be read is invalid."""
    started = SYSTEM_CLOCK.monotonic()
    chain = target.chain("validate")
    validator = Validator(chain.context, deep=deep)
    with output.working("reading manifests"):
        numbers, wanted = _wanted(chain, checkpoint)
        total = _bytes(validator, numbers, wanted) if deep else 0
    with output.progress(f"validating {target.query}", total) as progress:
        gone = {} if checkpoint else missing(chain.context)
        found = [_verdict(_lost(number, why)) for number, why in sorted(gone.items(), reverse=True)]
        found += [_verdict(validator.check(number, progress)) for number in reversed(numbers)]
        refs = [_ref_verdict(validator, ref, progress) for ref in wanted]
    return ValidationReport(
        store=target.store.url,
        query=target.query,
        format=target.format,
        deep=deep,
        valid=all(verdict.valid for verdict in (*found, *refs)),
        checkpoints=tuple(found),
        refs=tuple(refs),
        bytes_read=total,
        elapsed_s=SYSTEM_CLOCK.monotonic() - started,
    )


def _wanted(chain: Chain, checkpoint: str) -> tuple[list[int], list[Held]]:
    """Numbers in ascending order, and refs: all, or what was asked for."""
    if not checkpoint:
        return [found.number for found in history(chain.context)], held(chain.context)
    target = checkpoint_or_tag(checkpoint)
    if isinstance(target, str):
        return [], [Held(kind="tag", name=target, ref=read_tag(chain, target))]
    need_checkpoint(chain, target)
    return [target], []


def _bytes(validator: Validator, numbers: list[int], refs: list[Held]) -> int:
    """How much there is to read, each object once."""
    objects = {ref for number in numbers for ref in validator.objects(number)}
    for found in refs:
        objects.update(needed(found.ref.head()) if found.ref is not None else ())
    return sum(ref.size for ref in objects)


def _ref_verdict(validator: Validator, found: Held, progress: Progress) -> Verdict:
    if found.ref is None:
        issue = IssuePart(severity="fatal", message=found.problem)
        return Verdict(number=None, valid=False, ref=found.kind, name=found.name, issues=(issue,))
    return _verdict(validator.check_ref(found.ref, progress), found.kind, found.name)


def _lost(number: int, why: str) -> Validation:
    return Validation(number=number, valid=False, issues=(why,))


def _verdict(found: Validation, ref: str = "", name: str = "") -> Verdict:
    return Verdict(
        number=found.number,
        valid=found.valid,
        ref=ref,
        name=name,
        files=found.files if found.valid else None,
        size_bytes=found.bytes if found.valid else None,
        issues=tuple(IssuePart(severity="fatal", message=text) for text in found.issues),
    )
