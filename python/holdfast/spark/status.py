"""What is known of a query's checkpoints now: for people, for metrics, for `holdfast.status`."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from holdfast.errors import FencedError, HoldfastError
from holdfast.objectstore import Usage
from holdfast.report.units import count_text, size_text
from holdfast.spark.failures import read_failure

if TYPE_CHECKING:
    from holdfast.chain import ChainReport, Committed, Head


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """One query as of its last event; figures count from this run's start on.

    `error` is the name of the error that stopped the query, and `message` its first line; both are
    empty while it runs, and after an ordinary stop.
    """

    query: str
    store: str
    claim: int
    checkpoint: int = 0
    batch: int = -1
    checkpoints: int = 0
    start_requests: int = 0
    requests: int = 0
    bytes_sent: int = 0
    bytes_received: int = 0
    price_usd: float = 0.0
    seconds: float = 0.0
    live_files: int = 0
    live_bytes: int = 0
    state_loads: int = 0
    state_load_ms: int = 0
    active: bool = True
    fenced: bool = False
    error: str = ""
    message: str = ""
    name: str = ""
    query_id: str = ""
    run_id: str = ""
    input_rows: int = 0
    batch_ms: int = 0
    recovery: ChainReport | None = None
    warnings: tuple[str, ...] = ()


@dataclass(slots=True, kw_only=True)
class Record:
    """The status of a run, kept up to date by its events."""

    status: Status
    last_usage: Usage = field(default_factory=Usage)
    has_ended: bool = False

    @property
    def is_final(self) -> bool:
        """Whether it is known why the query stopped, or it still runs."""
        return self.status.active or self.has_ended or bool(self.status.error)

    def checkpointed(self, head: Head, usage: Usage, seconds: float) -> None:
        """After a commit: where the chain stands, and what it took."""
        self.status = replace(
            self.status,
            checkpoint=head.number,
            batch=head.batch,
            checkpoints=self.status.checkpoints + 1,
            requests=usage.total,
            bytes_sent=usage.bytes_sent,
            bytes_received=usage.bytes_received,
            price_usd=usage.price(),
            seconds=self.status.seconds + seconds,
            live_files=len(head.files),
            live_bytes=head.size_bytes,
        )

    def loaded(self, loads: int, milliseconds: int) -> None:
        """State stores that told of their loads, since the claim."""
        self.status = replace(self.status, state_loads=loads, state_load_ms=milliseconds)

    def spent(self, seconds: float) -> None:
        self.status = replace(self.status, seconds=self.status.seconds + seconds)

    def began(self, query_id: str, run_id: str) -> None:
        self.status = replace(self.status, query_id=query_id, run_id=run_id)

    def progressed(self, *, name: str, rows: int, batch_ms: int) -> None:
        """What Spark says of its last batch."""
        self.status = replace(
            self.status,
            name=name,
            input_rows=self.status.input_rows + rows,
            batch_ms=batch_ms,
        )

    def terminated(self, run_id: str, trace: str) -> None:
        """Spark says that the run has ended, with a stack trace if an error ended it.

        An error of ours is known already, with its type. Where there is no trace, the query was
        stopped as asked, and what the stop interrupted is no error.
        """
        if run_id != self.status.run_id or self.has_ended:
            return
        self.has_ended = True
        error, message = self.status.error, self.status.message
        if not trace:
            error, message = "", ""
        elif not error:
            error, message = read_failure(trace)
        self.status = replace(self.status, active=False, error=error, message=message)

    def failed(self, error: HoldfastError) -> None:
        """A gate or a claim says no: the query will stop. After its end this is no news."""
        fenced = self.status.fenced or isinstance(error, FencedError)
        self.status = replace(self.status, active=False, fenced=fenced)
        if not self.has_ended:
            message = str(error).partition("\n")[0]
            self.status = replace(self.status, error=type(error).__name__, message=message)

    def ended(self) -> None:
        self.status = replace(self.status, active=False)

    def warned(self, text: str) -> None:
        self.status = replace(self.status, warnings=(*self.status.warnings, text)[-_WARNINGS_MAX:])


_WARNINGS_MAX = 20


def figures_text(status: Status) -> str:
    """What the JVM shows in Spark's metrics: `Figure.java` has the names."""
    figures = {
        "checkpoint": status.checkpoint,
        "requests": status.requests,
        "bytesSent": status.bytes_sent,
        "microUsd": round(status.price_usd * 1_000_000),
        "milliseconds": round(status.seconds * 1000),
        "liveFiles": status.live_files,
        "liveBytes": status.live_bytes,
    }
    return " ".join(f"{name}={value}" for name, value in figures.items())


def checkpoint_text(query: str, done: Committed, spent: Usage, seconds: float) -> str:
    """One line for the log: `orders: checkpoint 12 = batch 9: 203 files, 48 KiB, 2 requests …`."""
    size = size_text(done.manifest_bytes + done.pack_bytes)
    return (
        f"{query}: checkpoint {done.number} = batch {done.batch}: "
        f"{count_text(done.files, 'file')}, {size}, "
        f"{count_text(spent.total, 'request')}, {seconds * 1000:.0f} ms"
    )


def recovery_text(query: str, store: str, claim: int, report: ChainReport, head: Head) -> str:
    """One line for the log: which checkpoint a start resumes from, and why not a newer one."""
    if report.chosen is None:
        return f"{query}: claim {claim} on {store}: a new query"
    skipped = "".join(f"; skipped {number}: {reason}" for number, reason in report.skipped)
    plan = head.shown_plan
    replay = f"; batch {plan.batch} was planned and is run as planned" if plan else ""
    later = sum(batch > head.next_batch for batch in head.plans)
    if later:
        replay += f", and so are {later} planned after it, which may take a start each"
    return (
        f"{query}: claim {claim} on {store}: resumes from checkpoint {report.chosen}, "
        f"batch {head.batch}, {count_text(len(head.files), 'file')}, "
        f"{size_text(head.size_bytes)}{skipped}{replay} ({report.elapsed_s * 1000:.0f} ms)"
    )
