"""Every backend and every wrapper keeps the whole contract."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from holdfast.objectstore import LocalStore, MemoryStore, MeteredStore, ObjectStore, RetryingStore
from holdfast.testing import CONTRACT, FaultyStore

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def _open(kind: str, folder: Path) -> ObjectStore:
    if kind == "local":
        return LocalStore(folder / "store")
    if kind == "wrapped":
        return RetryingStore(MeteredStore(FaultyStore(MemoryStore())))
    return MemoryStore()


@pytest.mark.parametrize("kind", ["memory", "local", "wrapped"])
@pytest.mark.parametrize("claim", CONTRACT, ids=lambda claim: claim.__name__)
def test_a_store_keeps_the_contract(
    kind: str, claim: Callable[[ObjectStore], None], tmp_path: Path
) -> None:
    """The claim holds for this store."""
    claim(_open(kind, tmp_path))
