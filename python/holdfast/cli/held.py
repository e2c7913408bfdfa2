"""The tags and clones of a chain; one that cannot be read is told of, and stops nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.chain.read import list_manifests
from holdfast.chain.refs import list_refs, read_ref
from holdfast.errors import CorruptionError
from holdfast.layout import Kind
from holdfast.objectstore.parallel import gather
from holdfast.report.checkpoints import RefLine

if TYPE_CHECKING:
    from collections.abc import Iterable

    from holdfast.chain import Ref
    from holdfast.chain.context import Context


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A tag or a clone by its key; without a `ref` it cannot be read, and `problem` says why."""

    kind: str
    name: str
    ref: Ref | None = None
    problem: str = ""


def held(context: Context) -> list[Held]:
    """All of them, in the order of their keys."""

    def read(key: str) -> Held:
        parsed = context.keys.parse(key)
        kind = "clone" if parsed is not None and parsed.kind is Kind.CLONE else "tag"
        name = key if parsed is None else parsed.name
        try:
            return Held(kind=kind, name=name, ref=read_ref(context, key))
        except CorruptionError as error:
            return Held(kind=kind, name=name, problem=str(error))

    return gather(read, list_refs(context).live, parallel=context.settings.parallel)


def ref_lines(context: Context, kept: Iterable[int] | None = None) -> list[RefLine]:
    """The same for people; `kept` are the manifests that are there, if they are listed already."""
    alive = set(list_manifests(context).numbers if kept is None else kept)
    return [
        RefLine(kind=found.kind, name=found.name, problem=found.problem)
        if found.ref is None
        else RefLine.of(found.ref, retired=found.ref.entry.number not in alive)
        for found in held(context)
    ]
