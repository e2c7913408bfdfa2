"""The same request for many keys at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

T = TypeVar("T")
R = TypeVar("R")


def gather(function: Callable[[T], R], items: Iterable[T], *, parallel: int) -> list[R]:
    """The results in the order of the items; at most `parallel` calls are under way.

    The first error is raised once no call is under way any more. With `parallel` 1 everything
    runs on the calling thread, one after the other, which is what a model checker needs.
    """
    wanted = list(items)
    if parallel <= 1 or len(wanted) <= 1:
        return [function(item) for item in wanted]
    with ThreadPoolExecutor(max_workers=min(parallel, len(wanted))) as pool:
        return list(pool.map(function, wanted))
