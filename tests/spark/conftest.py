"""One Spark session for all tests of this folder that need no process of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import holdfast
from tests.spark.processes import Child
from tests.spark.session import new_session
from tests.trust import trusted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything here needs Spark."""
    for item in items:
        if "tests/spark/" in str(item.path):
            item.add_marker(pytest.mark.spark)


@pytest.fixture(scope="session")
def metrics_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where Spark's metrics system writes what its sources say, every second."""
    return tmp_path_factory.mktemp("metrics")


@pytest.fixture(scope="session")
def _session(
    tmp_path_factory: pytest.TempPathFactory, metrics_folder: Path
) -> Iterator[SparkSession]:
    sink = "spark.metrics.conf.driver.sink.csv"
    conf = {
        f"{sink}.class": "org.apache.spark.metrics.sink.CsvSink",
        f"{sink}.directory": str(metrics_folder),
        f"{sink}.period": "1",
    }
    made = new_session(tmp_path_factory.mktemp("store").as_uri(), conf)
    yield made
    made.stop()


@pytest.fixture
def store(tmp_path: Path) -> str:
    """A store of this test's own."""
    return trusted((tmp_path / "store").as_uri())


@pytest.fixture
def spark(_session: SparkSession, store: str) -> Iterator[SparkSession]:
    """The session, with the test's store as its default; nothing runs when the test ends."""
    _session.conf.set("spark.holdfast.store", store)
    holdfast.enable(_session)
    before = dict(_session.conf.getAll.items())
    yield _session
    for query in _session.streams.active:
        query.stop()
    _session.streams.resetTerminated()
    after = _session.conf.getAll
    for key in after.keys() - before.keys():
        _session.conf.unset(key)
    for key, value in before.items():
        if after.get(key) != value and _session.conf.isModifiable(key):
            _session.conf.set(key, value)


@pytest.fixture
def child(tmp_path: Path) -> Iterator[Callable[..., Child]]:
    """Makes drivers that end with the test."""
    made: list[Child] = []

    def make(**env: str) -> Child:
        made.append(Child(tmp_path / f"child-{len(made)}.log", env=env))
        return made[-1]

    yield make
    for each in made:
        each.kill()
