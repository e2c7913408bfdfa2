"""The store is built once; a test that changes it gets a copy."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest

from tests.cli.support import build, certify

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """What survives a power cut is the local store's claim, and tested there."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("cli") / "store"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)
        build(root)
    return root


@pytest.fixture
def url(built: Path) -> str:
    """To be looked at."""
    return built.as_uri()


@pytest.fixture
def root(built: Path, tmp_path: Path) -> Path:
    """To be changed."""
    copy = tmp_path / "store"
    shutil.copytree(built, copy)
    certify(copy)
    return copy


@pytest.fixture
def bare(root: Path) -> Path:
    """A copy without a certificate."""
    shutil.rmtree(root / ".holdfast")
    return root
