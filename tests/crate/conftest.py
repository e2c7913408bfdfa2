"""The crate is built once; only where there is no cargo are its tests skipped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import pytest

from holdfast.objectstore import LocalStore
from tests.crate import probe

if TYPE_CHECKING:
    from pathlib import Path


class Crate(Protocol):
    """`run_crate` on this test's own directory and prefix."""

    def __call__(self, command: str, *arguments: str) -> Any: ...


@pytest.fixture(scope="session")
def built_crate(request: pytest.FixtureRequest) -> None:
    if probe.cargo() is None:
        pytest.skip("cargo is not installed, so the seed's crate cannot be built")
    if not probe.is_built():
        capture = request.config.pluginmanager.getplugin("capturemanager")
        with capture.global_and_fixture_disabled():
            print("\nbuilding laminar-storage 0.18.5, once: about three minutes on two cores")
    probe.build()


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path)


@pytest.fixture
def crate(built_crate: None, tmp_path: Path) -> Crate:
    def run(command: str, *arguments: str) -> Any:
        return probe.run_crate(tmp_path, "q/", command, *arguments)

    return run
