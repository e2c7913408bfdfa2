"""Certification: race real writers on a store before any checkpoint is trusted to it.

A store that ignores the condition of a put lets two drivers commit one checkpoint, and says
nothing. So its word is not taken: threads and processes fight for the same keys for a few
seconds, and the verdict is kept at the store, once for all its queries.

Failure: killed → no verdict, and up to some 200 small objects under `.holdfast/certify/`, which
the next certification removes. A store that fails or is too slow gets no verdict either.
"""

from __future__ import annotations

import secrets
import threading
from concurrent.futures import wait
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from holdfast.clock import SYSTEM_CLOCK, Clock
from holdfast.errors import NotFoundError, UnavailableError
from holdfast.objectstore import certify_rules as rules
from holdfast.objectstore.base import ObjectStore, PutMode, scan
from holdfast.objectstore.certificate import Certificate, Check
from holdfast.objectstore.certify_race import (
    ProcessWriter,
    Writer,
    at_once,
    attempt,
    in_background,
    process_writers,
)
from holdfast.settings import CERTIFICATE_KEY

if TYPE_CHECKING:
    from collections.abc import Sequence

_ROOT = ".holdfast/certify/"
_THREADS = 4
_PROCESSES = 2
_ROUNDS_MAX = 200
_LEFTOVER_AGE_MS = 3_600_000
_PATIENCE = 2.25  # times the seconds asked for; then the store is too slow
_START_SECONDS = 2.0
_SLOW_START_SECONDS = 8.0


class TooSlowError(UnavailableError):
    """The trial did not come to an end in time, which says nothing of the store's rules."""


def ensure_certified(store: ObjectStore, *, clock: Clock = SYSTEM_CLOCK) -> Certificate:
    """The verdict that is kept at this store; without one, certify it now, within 5 seconds.

    Where that is too short for the store or for this machine, it is tried once more, in 20. A
    verdict on another place, which came along when a store was copied, does not count.

    Raises:
        UnsupportedError: the store is refused; the message says which rule it breaks.
        UnavailableError: it does not answer, or not quickly enough to be certified.
    """
    try:
        found = Certificate.from_json(store.get(CERTIFICATE_KEY).body)
    except NotFoundError:
        found = None
    if found is None or found.store != store.url:
        try:
            return certify(store, seconds=_START_SECONDS, clock=clock)
        except TooSlowError:
            return certify(store, seconds=_SLOW_START_SECONDS, clock=clock)
    if not found.certified:
        raise found.refusal()
    return found


def certify(
    store: ObjectStore, *, seconds: float = 3.0, clock: Clock = SYSTEM_CLOCK
) -> Certificate:
    """Race writers for so many seconds, and keep the verdict; 2.25 times as long at most.

    Raises:
        UnsupportedError: the store breaks a rule; that verdict is kept too.
        UnavailableError: it does not answer, or it is too slow; there is no verdict.
    """
    trial = _Trial(store=store, seconds=seconds, clock=clock)
    running = in_background(trial.run)
    if not wait([running], timeout=_PATIENCE * seconds).done:
        trial.abandoned.set()
        raise TooSlowError(
            "the store is too slow to be certified in this time",
            hint="run `holdfast certify` with more seconds",
            store=store.url,
            seconds=seconds,
        )
    certificate = running.result()
    if not certificate.certified:
        raise certificate.refusal()
    return certificate


@dataclass(slots=True, kw_only=True)
class _Trial:
    store: ObjectStore
    seconds: float
    clock: Clock
    abandoned: threading.Event = field(default_factory=threading.Event)
    processes: int = 0
    checks: list[Check] = field(default_factory=list)

    def run(self) -> Certificate:
        """Try every rule until one breaks, clean up, and write the verdict down."""
        began = self.clock.monotonic()
        site = rules.Site(self.store, f"{_ROOT}{secrets.token_hex(8)}/")
        try:
            self._try_all(site, began)
        except rules.BrokenRuleError as broken:
            failed = Check(rule=broken.rule, passed=False, count=1, evidence=broken.evidence)
            self.checks.append(failed)
        finally:
            self._clean_up(site)
        certificate = Certificate(
            verdict="certified" if all(check.passed for check in self.checks) else "refused",
            store=self.store.url,
            when_ms=self.clock.now_ms(),
            seconds=round(self.clock.monotonic() - began, 3),
            threads=_THREADS,
            processes=self.processes,
            checks=tuple(self.checks),
        )
        if not self.abandoned.is_set():
            self.store.put(CERTIFICATE_KEY, certificate.to_json())
        return certificate

    def _try_all(self, site: rules.Site, began: float) -> None:
        with process_writers(self.store, _PROCESSES) as processes:
            alone = in_background(partial(self._try_alone, site))
            try:
                rounds = self._race(site, processes, began + self.seconds)
            finally:
                wait([alone])  # or it would write on while others clean up
        counts = {**alone.result(), rules.CREATE: rounds, rules.IF_MATCH: rounds}
        self.checks += [
            Check(rule=rule, passed=True, count=count) for rule, count in counts.items()
        ]

    @staticmethod
    def _try_alone(site: rules.Site) -> dict[str, int]:
        """What needs no rival, all at the same time; how often each rule was tried."""
        trials = (rules.reads, rules.listings, rules.conditions)
        reads, listings, _ = at_once([partial(trial, site) for trial in trials])
        return {rules.READ: reads, rules.LIST: listings}

    def _race(self, site: rules.Site, processes: Sequence[ProcessWriter], end: float) -> int:
        """Round after round until the time is up; a round creates one key and replaces another.

        The threads begin alone; processes join as they come. They are waited for half as long
        again, and before half of the rounds are used up.
        """
        etag = site.store.put(f"{site.root}replaced", b"the first").etag
        for number in range(_ROUNDS_MAX):
            left = end - self.clock.monotonic()
            is_complete = self.processes == len(processes) or left < -self.seconds / 2
            if self.abandoned.is_set() or (number and left <= 0 and is_complete):
                return number
            patience = left if number >= _ROUNDS_MAX // 2 else 0
            joined = [process for process in processes if process.ready(patience)]
            self.processes = max(self.processes, len(joined))
            writers: list[Writer] = [*[partial(attempt, self.store)] * _THREADS, *joined]
            key = f"{site.root}create-{number:03}"
            rules.race(site, rules.CREATE, key, PutMode.CREATE, writers)
            key, mode = f"{site.root}replaced", PutMode.if_match(etag)
            etag = rules.race(site, rules.IF_MATCH, key, mode, writers)
        return _ROUNDS_MAX

    def _clean_up(self, site: rules.Site) -> None:
        """Delete what this trial made, and what one that was killed left long ago."""
        limit = self.clock.now_ms() - _LEFTOVER_AGE_MS
        self.store.delete(
            [
                meta.key
                for meta in scan(self.store, _ROOT)
                if meta.key.startswith(site.root) or meta.modified_ms < limit
            ]
        )
