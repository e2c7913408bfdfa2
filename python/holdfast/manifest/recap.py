"""What the manifests between two full ones name, told again in the later of the two.

Retention must know what every kept manifest names. With this it reads the full ones, and not the
63 between each two of them, whoever wrote them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from holdfast.errors import CorruptionError
from holdfast.manifest.fields import Fields
from holdfast.manifest.files import ObjectRef, ref_from_json, ref_to_json

if TYPE_CHECKING:
    from collections.abc import Iterable

_OBJECTS_MAX = 1024
_STEPS_MAX = 1024
_FULLS_MAX = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One commit: which version of its manifest, and the objects that this names."""

    etag: str
    sha256: str
    named: frozenset[ObjectRef]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recap:
    """The commits `base + 1`, `base + 2`, … that add up from one full manifest.

    `sha256` and `claim` are those of that full manifest, `fulls` the numbers of some before it.
    Commits that name too much to be told again are left out, from the first such one on.
    """

    base: int
    sha256: str
    claim: int
    steps: tuple[Step, ...] = ()
    fulls: tuple[int, ...] = ()

    def after(self, number: int, step: Step) -> Recap:
        """With one commit more, if it is the next, its version is known and there is room."""
        is_next = number == self.base + len(self.steps) + 1 <= self.base + _STEPS_MAX
        told = sum(len(each.named) for each in self.steps) + len(step.named)
        if not (is_next and step.etag and told <= _OBJECTS_MAX):
            return self
        return replace(self, steps=(*self.steps, step))

    def to_json(self) -> dict[str, Any]:
        """Columns; objects are named by their index in a table of their own."""
        unique = list(dict.fromkeys(ref for step in self.steps for ref in sorted_refs(step.named)))
        index = {ref: position for position, ref in enumerate(unique)}
        return {
            "base": self.base,
            "sha256": self.sha256,
            "claim": self.claim,
            "fulls": self.fulls,
            "etags": [step.etag for step in self.steps],
            "sha256s": [step.sha256 for step in self.steps],
            "objects": [ref_to_json(ref) for ref in unique],
            "named": [[index[ref] for ref in sorted_refs(step.named)] for step in self.steps],
        }

    @classmethod
    def from_json(cls, value: object, *, below: int) -> Recap | None:
        """What manifest `below` says of those before it; None if it says nothing.

        Raises:
            CorruptionError: it says what cannot be.
        """
        if value is None:
            return None
        fields = Fields(value, "recap")
        base = fields.integer("base", low=1, high=below - 1)
        objects = [ref_from_json(item, 0) for item in fields.array("objects")]
        etags: list[str] = fields.array("etags", of=str)
        hashes: list[str] = fields.array("sha256s", of=str)
        named: list[list[int]] = fields.array("named", of=list)
        if not len(etags) == len(hashes) == len(named) < below - base:
            raise CorruptionError("a recap's columns differ in length", of=below, steps=len(etags))
        return cls(
            base=base,
            sha256=fields.text("sha256"),
            claim=fields.integer("claim"),
            fulls=tuple(fields.integers("fulls", low=1, high=below - 1)),
            steps=tuple(
                Step(etag=etag, sha256=digest, named=_chosen(objects, indexes))
                for etag, digest, indexes in zip(etags, hashes, named, strict=True)
            ),
        )


def read_recap(value: object, *, below: int) -> Recap | None:
    """A recap; None where none can be read, for it saves reads and nothing else depends on it."""
    try:
        return Recap.from_json(value, below=below)
    except CorruptionError:
        return None


def begin_recap(number: int, sha256: str, claim: int, before: Recap | None) -> Recap:
    """What will be told of the commits after this full manifest."""
    fulls = (*before.fulls, before.base)[-_FULLS_MAX:] if before is not None else ()
    return Recap(base=number, sha256=sha256, claim=claim, fulls=fulls)


def sorted_refs(refs: Iterable[ObjectRef]) -> list[ObjectRef]:
    return sorted(refs, key=lambda ref: ref.key)


def _chosen(objects: list[ObjectRef], indexes: list[int]) -> frozenset[ObjectRef]:
    if any(type(index) is not int or not 0 <= index < len(objects) for index in indexes):
        raise CorruptionError("a recap names an object that it does not list", objects=len(objects))
    return frozenset(objects[index] for index in indexes)
