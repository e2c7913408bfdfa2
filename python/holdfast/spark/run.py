"""One claim of one query in this driver: what the JVM's events come to.

Invariants: an intent is durable before `offsets/N` may appear, a manifest before `commits/N`;
after any error nothing more is written, and the query must be started again.
"""

from __future__ import annotations

import logging
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from holdfast.clock import SYSTEM_CLOCK, Clock
from holdfast.errors import ConfigMismatchError, HoldfastError, MisuseError, UnavailableError
from holdfast.objectstore import parted_of
from holdfast.spark.journal import Pending
from holdfast.spark.modes import check_mode, parse_thread
from holdfast.spark.status import Record, Status, checkpoint_text
from holdfast.spark.tickets import part_count, renewed_ticket, upload_ticket
from holdfast.sparkfiles.offsets import parse_offsets
from holdfast.sparkfiles.paths import is_driver_side, offsets_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from holdfast.chain import Chain, ChainWriter, Committed, Head
    from holdfast.manifest import Facts
    from holdfast.objectstore import Meter
    from holdfast.sessions import SourceCheckpoints
    from holdfast.spark.shown import Shown
    from holdfast.spark.sinkstate import Sinks
    from holdfast.spark.spool import SpoolDirectory
    from holdfast.spark.tickets import Ticket

UPLOADS_OPEN_MAX = 1_000  # each may hold gigabytes of parts that the store bills
_LOG = logging.getLogger("holdfast")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What a run is made of."""

    chain: Chain
    writer: ChainWriter
    shown: Shown
    spool: SpoolDirectory
    meter: Meter
    sinks: Sinks
    clock: Clock = SYSTEM_CLOCK


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """What `holdfast.start` knows of a query: the hash and notes of all its manifests.

    `compared` is the hash of the checkpoint that the decision to start was made on.
    """

    pipeline_hash: int
    notes: Mapping[str, Any]
    warnings: tuple[str, ...] = ()
    compared: int | None = None

    def require_same(self, head: Head) -> None:
        """Check a head that the claim is about to take: the decision was made before the claim.

        Raises:
            ConfigMismatchError: another driver has started another query here since.
        """
        if head.facts.pipeline_hash not in (None, self.pipeline_hash, self.compared):
            raise ConfigMismatchError(
                "another driver started a different query on this checkpoint meanwhile",
                hint="start it again: the newest checkpoint is compared anew",
                checkpoint=head.number,
            )


class Run:
    """Events of one query come one at a time, but for `fetch` and `sign`, which any thread asks."""

    def __init__(self, parts: Parts, status: Status) -> None:
        self.parts = parts
        self.record = Record(status=status, last_usage=parts.meter.usage())
        self._pending = Pending()
        self.notes: dict[str, Any] = dict(parts.writer.head.notes)
        self.sources: SourceCheckpoints | None = None
        self.is_in_sink = False
        self.uploads: dict[str, Ticket] = {}
        self._left: set[str] = set()
        self.pipeline_hash = parts.writer.head.facts.pipeline_hash
        self._fulls = 0

    @property
    def status(self) -> Status:
        return self.record.status

    @property
    def query(self) -> str:
        return self.parts.chain.context.query

    def describe(self, described: Described) -> None:
        """From the next commit on, manifests have this description; its warnings are logged."""
        self.pipeline_hash = described.pipeline_hash
        self.notes |= described.notes
        for text in described.warnings:
            self.record.warned(text)

    def begin(self, execution: str, trigger: str, thread: str) -> None:
        """Spark's thread of this run tells its ids.

        Raises:
            ConfigError: the query runs in a mode that breaks the two gates.
        """
        with self._told():
            check_mode(execution, trigger)
        self.record.began(*parse_thread(thread))

    def intent(self, batch: int, journal: str) -> None:
        """Make the plan of a batch durable.

        Raises:
            HoldfastError: it is not durable; the query must stop.
        """
        with self._told(), self._timed():
            self._pending.tell(journal)
            files = self._pending.take(is_driver_side, self.parts.spool)
            self.parts.writer.intent(batch, files, notes=self.parts.sinks.planned(batch))

    def commit(self, batch: int, journal: str) -> tuple[Committed, str]:
        """Make a batch durable; returns what was written, and a line for the log.

        Raises:
            HoldfastError: it is not committed; the query must stop.
        """
        clock, started = self.parts.clock, self.parts.clock.monotonic()
        with self._told():
            self._pending.tell(journal)
            removed = frozenset(self._pending.removed)
            facts = self._facts(batch)
            self.notes["sinks"] = self.parts.sinks.notes(batch)
            done = self.parts.writer.commit(
                batch,
                self._pending.take(lambda _: True, self.parts.spool),
                removed=removed,
                facts=facts,
                notes=self.notes,
            )
        self._pending.removed -= removed
        self._left |= self._pending.take_left()
        self.parts.sinks.committed(batch)
        return done, self._counted(done, clock.monotonic() - started)

    def sign(self, size: int, sha256s: list[str], begun: str, *, seconds: int) -> Ticket:
        """A ticket for one upload, or for one that was begun, with fresh presigned URLs.

        Raises:
            MisuseError: these are not the size and hashes of a file, or of the upload.
            UnavailableError: too many uploads in parts are open.
        """
        context = self.parts.chain.context
        if begun:
            return renewed_ticket(context, self.uploads.get(begun), size, sha256s, seconds)
        if part_count(size) > 1 and len(self.uploads) >= UPLOADS_OPEN_MAX:
            raise UnavailableError(
                "too many uploads in parts are open",
                hint="those that failed are aborted two hours after their tickets have expired",
                query=self.query,
                limit=UPLOADS_OPEN_MAX,
            )
        ticket = upload_ticket(context, self.status.claim, size, sha256s, seconds)
        requests = 1 if ticket.upload is None else len(ticket.upload.parts) + 2  # begun, finished
        self.parts.meter.add("put", count=requests, sent=size)
        if ticket.upload is not None:  # its presigned URLs are of no use here
            self.uploads[ticket.key] = replace(ticket, upload=replace(ticket.upload, parts=()))
        return ticket

    def finish(self, key: str, etags: list[str]) -> None:
        """Make one object of the parts that were sent.

        Raises:
            MisuseError: no such upload was begun, or not with so many parts.
            StoreError, UnavailableError: the store did not put them together.
        """
        begun, parted = self.uploads.get(key), parted_of(self.parts.chain.context.store)
        upload = None if begun is None else begun.upload
        if upload is None or parted is None or len(etags) != len(upload.sha256s):
            raise MisuseError("no such upload was begun here", key=key)
        parted.finish(upload, etags)
        self.uploads.pop(key, None)

    def is_retention_due(self) -> bool:
        """After the first full manifest, and every second one: it takes six requests."""
        self._fulls += 1
        return self._fulls % 2 == 1

    def plan_digest(self, batch: int) -> str:
        """The hash of what a batch reads, which is the same whoever runs it, and when.

        Raises:
            MisuseError: the batch has no plan.
        """
        plan = self.parts.writer.head.plans.get(batch)
        if plan is None:
            raise MisuseError("this batch has no plan", query=self.query, batch=batch)
        return plan.digest()

    def _counted(self, done: Committed, seconds: float) -> str:
        usage = self.parts.meter.usage()
        spent = usage - self.record.last_usage
        self.record.last_usage = usage
        self.record.checkpointed(self.parts.writer.head, usage, seconds)
        self.record.loaded(self._pending.loads, self._pending.load_ms)
        line = checkpoint_text(self.query, done, spent, seconds)
        _LOG.info(line)
        return line

    def _facts(self, batch: int) -> Facts:
        """What the batch's plan and its sinks say; a change of names is a warning."""
        head = self.parts.writer.head
        plan = head.plans.get(batch)
        body = plan.contents().get(offsets_path(batch), b"") if plan else b""
        offsets = parse_offsets(body)
        facts = replace(
            self.parts.sinks.facts(batch),
            source_offsets=offsets.connectors(batch),
            watermark=offsets.watermark_ms,
            source_names=tuple(offsets.ends),
            pipeline_hash=self.pipeline_hash,
        )
        for what, before, now in (
            ("sources", head.facts.source_names, facts.source_names),
            ("sinks", head.facts.sink_names, facts.sink_names),
        ):
            if before and set(before) != set(now):
                self.warn(f"batch {batch} has other {what} than before: {before} → {now}")
        return facts

    def is_sweep_due(self) -> bool:
        """Whether attempts that lost or died have left large files behind."""
        return bool(self._left)

    def sweep(self) -> None:
        """Delete what attempts that lost or died have left; no record names it, and none will.

        Raises:
            StoreError, UnavailableError: the store said no; it stays until the next sweep.
        """
        context, left = self.parts.chain.context, frozenset(self._left)
        for key in left & self.uploads.keys():
            self._abort(key)
        context.store.delete([context.key_of(key) for key in sorted(left)])
        self._left -= left

    def abort_uploads(self) -> None:
        """Take back the parts of all uploads that nobody finished."""
        failed: list[HoldfastError] = []
        for key in list(self.uploads):
            try:
                self._abort(key)
            except HoldfastError as error:
                failed.append(error)
        if failed:
            self.warn(
                f"{len(failed)} uploads in parts stay unfinished: {failed[0]}; "
                "the lifecycle rule in conf/STORES.md ends them"
            )

    def _abort(self, key: str) -> None:
        ticket, parted = self.uploads[key], parted_of(self.parts.chain.context.store)
        if parted is not None and ticket.upload is not None:
            parted.abort(ticket.upload)
        self.uploads.pop(key, None)

    def warn(self, text: str) -> None:
        """Something that does not stop the query, and that somebody should know."""
        _LOG.warning("%s: %s", self.query, text)
        self.record.warned(text)

    @contextmanager
    def _timed(self) -> Iterator[None]:
        started = self.parts.clock.monotonic()
        yield
        self.record.spent(self.parts.clock.monotonic() - started)

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Whatever stops a run is what its status says."""
        try:
            yield
        except HoldfastError as error:
            self.record.failed(error)
            raise
