"""The state that a manifest stands for: every live file, and the plans not yet run.

Reading a chain and writing one use the same step, `Head.advance`: a reader applies what it
fetched, a writer what it has just made durable.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from holdfast.manifest.facts import Facts
from holdfast.manifest.recap import Recap, Step, begin_recap
from holdfast.manifest.record import ChainManifest, Kind, Lineage
from holdfast.pack import decode_some

if TYPE_CHECKING:
    from collections.abc import Iterable

    from holdfast.manifest.files import FileEntry
    from holdfast.manifest.plan import Plan


@dataclass(slots=True, kw_only=True)
class Head:
    """The chain as of manifest `number`; 0 is a chain that has none.

    `packs` are the inline packs since the last full manifest, still compressed.
    """

    number: int = 0
    sha256: str = ""
    kind: Kind = Kind.RESET
    base: int = 0
    claim: int = 0
    lineage: Lineage = field(default_factory=Lineage)
    batch: int = -1
    size_bytes: int = 0
    timestamp_ms: int = 0
    facts: Facts = field(default_factory=Facts)
    files: dict[str, FileEntry] = field(default_factory=dict)
    packs: dict[int, bytes] = field(default_factory=dict)
    plans: dict[int, Plan] = field(default_factory=dict)
    notes: dict[str, Any] = field(default_factory=dict)
    recap: Recap | None = None

    def advance(self, entry: ChainManifest) -> None:
        """Become what this manifest stands for; it is full, or the next after this head."""
        record = entry.record
        # A full one is built aside and swapped in, so that who looks a file up meanwhile finds it.
        files, packs = ({}, {}) if entry.is_full else (self.files, self.packs)
        for path in record.removed:
            files.pop(path, None)
        files.update((file.path, file) for file in record.files)
        pack = entry.inline_pack()
        if pack:
            packs[entry.number] = pack
        self.files, self.packs = files, packs
        self.plans = {plan.batch: plan for plan in record.plans}
        self.number, self.sha256, self.base = entry.number, entry.sha256, record.base
        self.kind, self.claim, self.lineage = record.kind, record.claim, record.lineage
        self.batch, self.notes = record.batch, dict(record.notes)
        self.size_bytes = entry.manifest.size_bytes
        self.timestamp_ms = entry.manifest.timestamp_ms
        self.facts = Facts.of(entry.manifest)
        self.recap = _recap_after(self.recap, entry)

    def copy(self) -> Head:
        """A head of its own, which can go on without this one."""
        return replace(self, files=dict(self.files), packs=dict(self.packs), plans=dict(self.plans))

    @property
    def is_unused(self) -> bool:
        """Whether there is no query: none ever was, or it was removed."""
        return not self.number or self.kind is Kind.REMOVED

    @property
    def next_batch(self) -> int:
        return self.batch + 1

    @property
    def shown_plan(self) -> Plan | None:
        """The plan that a start shows: that of the next batch, and of no later one."""
        return self.plans.get(self.next_batch)

    def visible(self) -> dict[str, FileEntry]:
        """Every file that a start shows: the live ones, and those of the shown plan."""
        plan = self.shown_plan
        return self.files if plan is None else {**self.files, **{f.path: f for f in plan.files}}

    def inline_contents(self, paths: Iterable[str] | None = None) -> dict[str, memoryview]:
        """Bytes of the live files that are inside manifests, or of some of them, by path.

        Raises:
            CorruptionError: a manifest does not carry what it lists.
        """
        wanted: dict[int, set[str]] = {}
        for path in self.files if paths is None else paths:
            file = self.files.get(path)
            if file is not None and file.ref is not None and file.ref.kind == "inline":
                wanted.setdefault(file.ref.number, set()).add(path)
        found: dict[str, memoryview] = {}
        for number, named in wanted.items():
            found.update(decode_some(self.packs[number], named, "a manifest", number=number))
        return found

    def carried(self, paths: Iterable[str] | None = None) -> dict[str, bytes | memoryview]:
        """Bytes of the visible files that came with manifests and the shown plan, by path.

        `paths` are the live files that are wanted; those of the plan always come along.

        Raises:
            CorruptionError: one did not come.
        """
        plan = self.shown_plan
        return {**self.inline_contents(paths), **(plan.contents() if plan else {})}


def _recap_after(recap: Recap | None, entry: ChainManifest) -> Recap | None:
    record = entry.record
    if entry.is_full:
        return begin_recap(entry.number, entry.sha256, record.claim, record.recap)
    step = Step(etag=entry.etag, sha256=entry.sha256, named=record.named())
    return recap.after(entry.number, step) if recap is not None else None
