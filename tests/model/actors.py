"""What each process does, on the real chain code: drivers, retention and operators."""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from holdfast.chain.claim import claim
from holdfast.chain.compose import NewFile
from holdfast.chain.recover import recover
from holdfast.chain.rollback import reset
from holdfast.errors import CarriedPlanError, CorruptionError, FencedError, MisuseError
from holdfast.manifest.facts import Facts
from holdfast.manifest.files import ObjectRef

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from holdfast.chain.context import Context
    from holdfast.chain.head import Head
    from holdfast.chain.writer import ChainWriter
    from holdfast.manifest.plan import Plan
    from tests.model.bounds import Bounds


class Unchanged:
    """A clone whose files are all as they were."""

    def wants(self, path: str) -> bool:
        return False

    def rewrite(self, path: str, body: bytes) -> bytes:
        return body

    def notes(self, notes: Mapping[str, Any]) -> dict[str, Any]:
        return dict(notes)


@dataclass(frozen=True, kw_only=True)
class Reported:
    """A batch that a driver has reported to Spark as committed."""

    number: int
    batch: int
    plan: str
    lineage: int
    config: int


@dataclass(kw_only=True)
class Driver:
    """A driver as Spark is one: runs the plan that a start shows, then plans batch after batch."""

    context: Context
    name: str
    bounds: Bounds
    batches: int
    config: int = 1
    sink: Callable[[ChainWriter, int, str], None]
    report: Callable[[Reported], None]
    on_claim: Callable[[ChainWriter], None] = field(default=lambda _: None)

    def run(self, *, stop_after: int = 99) -> None:
        """Where an earlier run has planned a batch, it starts again in the same process."""
        if self.bounds.configs:
            self._reset_if_changed()
        for attempt in range(max(1, self.batches)):
            read = partial(recover, deep=self.bounds.deep, verify=self._require_config)
            writer = claim(self.context, read=read)
            self.on_claim(writer)
            shown = writer.head.shown_plan
            try:
                for _ in range(stop_after):
                    if writer.head.next_batch >= self.batches:
                        return
                    self._run_batch(writer, shown, f"{self.name}{attempt}")
                    shown = None
            except CarriedPlanError:
                continue
            return

    def _require_config(self, head: Head) -> None:
        """Another driver may have reset the chain since this one decided not to."""
        if self.bounds.configs and head.facts.pipeline_hash not in (None, self.config):
            raise MisuseError("the chain has another configuration by now")

    def _reset_if_changed(self) -> None:
        """As `holdfast.start` does with `auto-reset`."""
        head = recover(self.context).head
        if head.facts.pipeline_hash in (None, self.config):
            return
        try:
            reset(
                self.context,
                f"before-{self.name}",
                unless=lambda now: now.facts.pipeline_hash in (None, self.config),
            )
        except CorruptionError as error:
            # Overtaken: what it has claimed was retired before it could be tagged.
            raise FencedError("the reset came too late") from error

    def _run_batch(self, writer: ChainWriter, shown: Plan | None, name: str) -> None:
        head, bounds = writer.head, self.bounds
        batch, lineage = head.next_batch, head.lineage.number
        if shown is None:
            plan = f"{name}/{head.claim}/{batch}"
            offsets = NewFile(path=f"offsets/{batch}", mtime_ms=1, body=plan.encode())
            writer.intent(batch, [offsets])
        else:
            plan = shown.contents()[f"offsets/{batch}"].decode()
        self.sink(writer, batch, plan)
        # What the history is can be read off the notes; the files come and go, as Spark's do.
        filler = random.Random(batch).randbytes((60 if batch < 2 else 400) if bounds.growing else 1)
        state = self._state(f"state/{batch}", plan.encode() + filler, head.claim)
        old = batch - (2 if bounds.growing else bounds.window)
        gone = [f"offsets/{old}", f"state/{old}"] if old >= 0 else []
        notes = {"plans": {**head.notes.get("plans", {}), str(batch): plan}}
        facts = Facts(pipeline_hash=self.config)
        done = writer.commit(batch, [state], removed=gone, notes=notes, facts=facts)
        self.report(
            Reported(
                number=done.number, batch=batch, plan=plan, lineage=lineage, config=self.config
            )
        )

    def _state(self, path: str, body: bytes, its_claim: int) -> NewFile:
        if not self.bounds.large:
            return NewFile(path=path, mtime_ms=1, body=body)
        context = self.context
        key = context.keys.file(its_claim, context.nonces())
        context.store.put(key, body)
        digest = hashlib.sha256(body).hexdigest()
        ref = ObjectRef("file", context.relative(key), len(body), digest)
        return NewFile(path=path, mtime_ms=1, uploaded=ref)
