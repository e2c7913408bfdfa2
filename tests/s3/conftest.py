"""Tests of this folder get a store on the real server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from holdfast.objectstore import open_store

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.objectstore import ObjectStore


@pytest.fixture
def store(s3_url: Callable[..., str]) -> ObjectStore:
    """A store in which nothing is yet."""
    return open_store(s3_url())
