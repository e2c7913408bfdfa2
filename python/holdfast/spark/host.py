"""The Python side of a driver: which store, which query, which run, for every event of the JVM.

Knows nothing of Spark's classes, so that a test can play the JVM.
"""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from holdfast.clock import SYSTEM_CLOCK, Clock
from holdfast.errors import ConfigError, FencedError, HoldfastError, MisuseError, NotFoundError
from holdfast.ids import Writer
from holdfast.objectstore import Meter
from holdfast.spark.background import Background
from holdfast.spark.run import Described, Parts, Run
from holdfast.spark.shown import CATALOG, Fetched, Prefetch, Shown
from holdfast.spark.sinkstate import Sinks
from holdfast.spark.spool import SpoolRoot
from holdfast.spark.status import Record, Status, figures_text, recovery_text
from holdfast.spark.stores import Stores
from holdfast.spark.tickets import Ticket, download_ticket
from holdfast.spark.views import View, Views
from holdfast.sparkfiles.paths import RESERVED

if TYPE_CHECKING:
    from holdfast.chain import Chain, Committed, Head
    from holdfast.manifest import ObjectRef
    from holdfast.spark.options import Options
    from holdfast.spark.spool import SpoolDirectory

_LOG = logging.getLogger("holdfast")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovered:
    """What the JVM shows from now on: the files in this directory's catalog.

    `claim` is negative for a view, which only reads. `text` is for the log, as a warning where the
    start did not take the newest checkpoint.
    """

    root: str
    claim: int
    checkpoint: int
    directory: str
    segment: str
    text: str
    is_warning: bool = False
    catalog: str = CATALOG


class _BelowError(Exception):
    """A path is inside a query's checkpoint."""

    def __init__(self, root: str) -> None:
        super().__init__(root)
        self.root = root


class Host:
    """One per Spark context; the JVM's events come from many threads."""

    def __init__(self, options: Options, *, application: str, clock: Clock = SYSTEM_CLOCK) -> None:
        self._clock = clock
        self._stores = Stores(options, Writer.here(application), clock)
        self._spool = SpoolRoot(options.spool_dir)
        self._background = Background()
        self._lock = threading.Lock()
        self._runs: dict[str, Run] = {}
        self._views = Views()
        self._ended: dict[str, Record] = {}
        self._sinks: dict[str, Sinks] = {}
        self._refusals: dict[str, HoldfastError] = {}
        self._expected: dict[str, Described] = {}

    @property
    def options(self) -> Options:
        return self._stores.options

    @property
    def store_changes(self) -> int:
        """How often a store's URL has changed; what was read before is of another store."""
        return self._stores.changes

    def recover(self, store: str, path: str, *, known: int) -> Recovered | int | None:
        """For reading: the query that has this path; `known` if that is still the newest.

        Never claims. Returns nothing where no query has this path.

        Raises:
            HoldfastError: there is one, and it cannot be read.
        """
        root = self._stores.root_of(store, path)
        if root is None:
            return None
        chain = self._stores.chain(store, root)
        if known and not chain.has_newer(known):
            return known
        recovery = chain.recover()
        head = recovery.head
        spool = self._spool.directory()
        shown = Shown(chain, lambda: head, spool)
        number = self._views.add(View(chain, shown, spool))
        return self._recovered(root, number, head, shown, spool, "")

    def start(self, store: str, path: str) -> Recovered:
        """For a query's start: claim the chain, and show exactly the claim's files.

        Raises:
            ConfigError: no such store, or a path that cannot be a query's.
            HoldfastError: the chain cannot be claimed.
        """
        try:
            return self._start(store, path)
        except HoldfastError as error:
            self._refusals[_key(store, path)] = error
            raise

    def _start(self, store: str, path: str) -> Recovered:
        meter = Meter()
        chain = self._stores.chain(store, path, meter)
        self._stores.certified(store)
        prefetch = Prefetch(chain, self.options.prefetch_bytes)
        expected = self._expected.pop(_key(store, path), None)

        def verify(head: Head) -> None:
            if expected is not None:
                expected.require_same(head)
            prefetch.verify(head)

        try:
            writer = chain.claim(
                deep=self.options.validate,
                on_fresh=lambda: self._require_root(store, path),
                verify=verify,
            )
        except _BelowError as below:
            return self._below(store, path, below.root)
        head = writer.head
        spool = self._spool.directory()
        shown = Shown(chain, lambda: writer.head, spool, prefetch.bodies)
        text = recovery_text(path, chain.context.store.url, head.claim, writer.report, head)
        run = Run(
            Parts(
                chain=chain,
                writer=writer,
                shown=shown,
                spool=spool,
                meter=meter,
                sinks=Sinks(lineage=head.lineage.number),
                clock=self._clock,
            ),
            Status(
                query=path,
                store=chain.context.store.url,
                claim=head.claim,
                checkpoint=head.number,
                batch=head.batch,
                live_files=len(head.files),
                live_bytes=head.size_bytes,
                start_requests=meter.usage().total,
                recovery=writer.report,
            ),
        )
        if writer.report.skipped:
            run.warn(text.removeprefix(f"{path}: "))
        else:
            _LOG.info(text)
        with self._lock:
            replaced = self._runs.get(_key(store, path))
            self._runs[_key(store, path)] = run
            earlier = self._sinks.get(_key(store, path))
            self._sinks[_key(store, path)] = run.parts.sinks
        if earlier is not None and earlier.lineage == head.lineage.number:
            run.parts.sinks.inherit(earlier)
        if replaced is not None:
            self._background.submit(replaced.warn, replaced.abort_uploads)
        if expected is not None:
            run.describe(expected)
        for ref in list(prefetch.bodies):
            self._background.fetch(shown, ref)
        found = self._recovered(path, head.claim, head, shown, spool, text)
        return replace(found, is_warning=bool(writer.report.skipped))

    def expect(self, store: str, query: str, described: Described) -> None:
        """The next start of this query is of the query that is described."""
        with self._lock:
            self._expected[_key(store, query)] = described

    def take_refusal(self, store: str, query: str) -> HoldfastError | None:
        """Why the last start of this query was refused, with its type; told once."""
        return self._refusals.pop(_key(store, query), None)

    def chain(self, store: str, query: str) -> Chain:
        """A query's chain, for looking; requests are not counted for any run."""
        return self._stores.chain(store, query)

    def is_running(self, store: str, query: str) -> bool:
        """Not so after a start that Spark refused: nothing of it runs."""
        with self._lock:
            run = self._runs.get(_key(store, query))
        return run is not None and bool(run.status.run_id)

    def begin(self, key: str, claim: int, execution: str, trigger: str, thread: str) -> None:
        """A run begins.

        Raises:
            ConfigError: in a mode that breaks the two gates.
        """
        self._run(key, claim).begin(execution, trigger, thread)

    def intent(self, key: str, claim: int, batch: int, journal: str) -> None:
        """The plan of a batch is durable when this returns."""
        self._run(key, claim).intent(batch, journal)

    def commit(self, key: str, claim: int, batch: int, journal: str) -> tuple[str, str]:
        """A batch is durable when this returns; a text for the log, and figures for metrics."""
        run = self._run(key, claim)
        done, text = run.commit(batch, journal)
        self._after(run, done)
        return text, figures_text(run.status)

    def fetch(
        self, key: str, claim: int, path: str, known: ObjectRef | None = None
    ) -> Fetched | Ticket:
        """Bring a file's bytes into the spool, or give a ticket for them.

        `known` is the object of a large file that was published and not committed yet.

        Raises:
            CorruptionError: they are missing, or not what was written.
        """
        chain, shown = self._shown(key, claim)
        ref = known or shown.entry(path).ref
        if ref is None:
            raise NotFoundError("a file without bytes needs no fetching", path=path)
        if ref.kind == "file":
            return self._download(chain, claim, key, ref)
        return shown.fetch(ref)

    def sign(self, key: str, claim: int, size: int, sha256s: list[str], begun: str = "") -> Ticket:
        """Permit the upload of one file, of exactly these bytes, under a key of its own.

        `sha256s`: the whole file's hash, then those of its parts if it is sent in parts.
        `begun`: the key of an upload in parts whose presigned URLs have expired.
        """
        return self._run(key, claim).sign(size, sha256s, begun, seconds=self.options.ticket_seconds)

    def finish(self, key: str, claim: int, upload_key: str, etags: list[str]) -> None:
        """All parts of an upload were sent: make one object of them."""
        self._run(key, claim).finish(upload_key, etags)

    def _download(self, chain: Chain, claim: int, key: str, ref: ObjectRef) -> Ticket:
        if claim > 0:
            self._run(key, claim).parts.meter.add("get", received=ref.size)
        return download_ticket(
            chain.context, ref, self.options.ticket_seconds, verify=self.options.verify_reads
        )

    def end(self, key: str, claim: int) -> str:
        """The run has ended: the hint is written, and the claim let go."""
        run = self._run(key, claim)
        run.record.ended()
        with self._lock:
            if self._runs.get(key) is run:
                self._ended[key] = self._runs.pop(key).record
        self._background.submit(run.warn, run.parts.writer.write_hint)
        self._background.submit(run.warn, run.abort_uploads)
        return f"{run.query}: the run ended at checkpoint {run.status.checkpoint}"

    def close(self) -> None:
        """The context stops: finish what runs in the background, and leave nothing behind."""
        self._background.close()
        self._spool.close()

    def run_of(self, query_id: str) -> Run:
        """The run of the query that Spark knows by this id.

        Raises:
            MisuseError: none of this driver.
        """
        with self._lock:
            runs = list(self._runs.values())
        for run in runs:
            if query_id and run.status.query_id == query_id:
                return run
        raise MisuseError(
            "this query does not keep its checkpoint on holdfast:",
            hint='set option("checkpointLocation", "holdfast:///name")',
            query_id=query_id,
        )

    def record_of(self, query_id: str) -> Record | None:
        """What is kept of the query that Spark knows by this id."""
        with self._lock:
            records = [*(run.record for run in self._runs.values()), *self._ended.values()]
        return next((each for each in records if each.status.query_id == query_id), None)

    def records(self) -> list[Record]:
        """Every query that has run here; those that still run come first."""
        with self._lock:
            records = [run.record for run in self._runs.values()]
            return records + [each for key, each in self._ended.items() if key not in self._runs]

    def statuses(self) -> list[Status]:
        """Every query that has run here, as of its last event; those that still run come first."""
        return [record.status for record in self.records()]

    def set_options(self, options: Options) -> None:
        """Settings that have changed count from the next start on."""
        self._stores.set_options(options)

    def _after(self, run: Run, done: Committed) -> None:
        """What is due once a checkpoint exists, off the query's path."""
        if run.is_sweep_due():
            self._background.submit(run.warn, run.sweep)
        if done.hint_due:
            self._background.submit(run.warn, run.parts.writer.write_hint)
        if done.full and run.is_retention_due():
            self._background.submit(run.warn, run.parts.writer.retain)

    def _require_root(self, store: str, path: str) -> None:
        """A new chain is begun only where no query is, at a path that can be a query's."""
        outer = self._stores.root_of(store, path.rpartition("/")[0])
        if outer is not None:
            raise _BelowError(outer)
        _require_new_root(path)

    def _below(self, store: str, path: str, root: str) -> Recovered:
        """A directory inside a query that is not run here: for a reader, never a start."""
        inner = path.removeprefix(f"{root}/").split("/", 1)[0]
        found = self.recover(store, path, known=0) if inner in RESERVED else None
        if not isinstance(found, Recovered):
            raise ConfigError(
                "the checkpoint of one query lies inside that of another",
                hint="give each its own checkpointLocation, neither below the other",
                inner=path,
                outer=root,
            )
        return found

    def _recovered(
        self, root: str, claim: int, head: Head, shown: Shown, spool: SpoolDirectory, text: str
    ) -> Recovered:
        return Recovered(
            root=root,
            claim=claim,
            checkpoint=head.number,
            directory=str(spool.path),
            segment=shown.write_catalog(),
            text=text,
        )

    def _run(self, key: str, claim: int) -> Run:
        with self._lock:
            run = self._runs.get(key)
        if run is None:
            raise MisuseError("no such query was started here", query=key)
        if run.status.claim != claim:
            raise FencedError("this driver has started the query again", query=key, claim=claim)
        return run

    def _shown(self, key: str, claim: int) -> tuple[Chain, Shown]:
        found = self._run(key, claim).parts if claim > 0 else self._views.get(claim)
        return found.chain, found.shown


def _key(store: str, path: str) -> str:
    """How the JVM names a query: `Location.key`."""
    return f"{store}/{path}"


def _require_new_root(path: str) -> None:
    """A path that ends as Spark's own directories do was meant for reading."""
    if path.rpartition("/")[2] in RESERVED or not path:
        raise NotFoundError(
            "no query has its checkpoint here",
            hint="`holdfast ls` shows the queries of a store",
            path=path,
        )
