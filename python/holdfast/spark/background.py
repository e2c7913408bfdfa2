"""Work that no batch waits for: hints, retention, and fetching ahead."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from holdfast.errors import HoldfastError

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.manifest import ObjectRef
    from holdfast.spark.shown import Shown

_FETCHERS = 8


class Background:
    """One thread for upkeep, in order; a few that fetch."""

    def __init__(self) -> None:
        self._upkeep = ThreadPoolExecutor(1, thread_name_prefix="holdfast-upkeep")
        self._fetchers = ThreadPoolExecutor(_FETCHERS, thread_name_prefix="holdfast-fetch")

    def submit(self, warn: Callable[[str], None], work: Callable[[], object]) -> None:
        """Do it some time; what goes wrong is a warning, for no batch depends on it."""
        self._upkeep.submit(_guarded, warn, work)

    def fetch(self, shown: Shown, ref: ObjectRef) -> None:
        """Fetch a pack ahead; who opens a file of it gets the error, if there is one."""
        self._fetchers.submit(shown.prefetch, (ref,))

    def close(self) -> None:
        self._fetchers.shutdown(wait=False, cancel_futures=True)
        self._upkeep.shutdown(wait=True)


def _guarded(warn: Callable[[str], None], work: Callable[[], object]) -> None:
    try:
        work()
    except HoldfastError as error:
        warn(f"upkeep of the chain failed, and is tried again later: {error}")
