"""Every backend in turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.sessions.support import backend

if TYPE_CHECKING:
    from pathlib import Path

    from holdfast.sessions import SourceCheckpoints


@pytest.fixture(params=["volatile", "memory", "local"])
def checkpoints(request: pytest.FixtureRequest, tmp_path: Path) -> SourceCheckpoints:
    return backend(request.param, tmp_path)
