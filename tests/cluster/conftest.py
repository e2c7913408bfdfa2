"""A standalone cluster for the tests of this folder, and drivers that use it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cluster.jobs import Job
from tests.cluster.standalone import Cluster
from tests.machines import HERE, Machine
from tests.spark.processes import SPARK_HOME, Child
from tests.trust import trusted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything here needs Spark and takes its time."""
    for item in items:
        if "tests/cluster/" in str(item.path):
            item.add_marker(pytest.mark.spark)
            item.add_marker(pytest.mark.cluster)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """Two workers with a core each, on empty disks."""
    with Cluster(tmp_path / "cluster") as made:
        yield made


@pytest.fixture
def store(tmp_path: Path) -> str:
    return trusted((tmp_path / "store").as_uri())


@pytest.fixture
def job(tmp_path: Path, store: str) -> Job:
    return Job(tmp_path, store)


@pytest.fixture
def child(tmp_path: Path) -> Iterator[Callable[..., Child]]:
    """Makes drivers that end with the test."""
    made: list[Child] = []

    def make(machine: Machine = HERE) -> Child:
        log = tmp_path / f"driver-{len(made)}.log"
        made.append(Child(log, env={"SPARK_HOME": str(SPARK_HOME)}, machine=machine))
        return made[-1]

    yield make
    for each in made:
        each.kill()
