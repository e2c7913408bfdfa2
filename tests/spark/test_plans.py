"""The hash of `holdfast.start`: the same for the same query, another one for a changed query."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.lines.kinds import KINDS
from tests.lines.plans import describe_twice

NAMES = [name for name, each in KINDS.items() if not each.needs]


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], dict[str, Any]]:
    return describe_twice(Path(sys.executable), tmp_path_factory.mktemp("plans"))


@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", NAMES)
def test_two_processes_describe_a_query_alike(
    described: tuple[dict[str, Any], dict[str, Any]], name: str
) -> None:
    """Whatever each of them did before, and however many cores it has."""
    first, second = (each["kinds"][name] for each in described)
    assert first["description"] == second["description"]
    assert first == second  # the hashes, and that of the changed query


@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", NAMES)
def test_a_changed_query_has_another_hash(
    described: tuple[dict[str, Any], dict[str, Any]], name: str
) -> None:
    """For each kind of query, by one change that a user could make."""
    first, _ = described
    assert first["kinds"][name]["changed"] != first["kinds"][name]["hash"]
