"""A store that need not be certified: its verdict is there already.

Certifying races writers for two seconds, which is not what most tests are about; that a start on a
store without a verdict does it is a test of its own.
"""

from __future__ import annotations

from holdfast.objectstore import Certificate, ObjectStore, open_store
from holdfast.settings import CERTIFICATE_KEY


def trust(store: ObjectStore, *, when_ms: int = 0) -> None:
    """Put the verdict there, without the race."""
    verdict = Certificate(
        verdict="certified",
        store=store.url,
        when_ms=when_ms,
        seconds=1.0,
        threads=1,
        processes=0,
        checks=(),
    )
    store.put(CERTIFICATE_KEY, verdict.to_json())


def trusted(url: str) -> str:
    """The URL itself, of a store that has its verdict."""
    trust(open_store(url))
    return url
