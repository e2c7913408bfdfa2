"""One jar and one description of plans for every line of Spark; `make lines` has all of them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.lines.__main__ import DELTA_LINE, compare_plans, environment, run
from tests.lines.kafka import NoJarsError, kafka_jars
from tests.lines.plans import WITH_DELTA, WITH_KAFKA, describe_twice, unseen, unstable


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("script", ["smoke.py", "delta.py"])
def test_an_older_line_of_spark_runs_the_same_jar(script: str) -> None:
    """An environment with it is made once, and kept; `make lines` has all of them."""
    assert run(DELTA_LINE, script)


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.timeout(1200)
def test_an_older_line_of_spark_describes_queries_alike() -> None:
    """In two processes; every kind of query, and a real change of each is seen."""
    assert compare_plans([environment(DELTA_LINE)]) == []


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.timeout(1200)
def test_a_query_on_kafka_is_described_alike(tmp_path: Path) -> None:
    """No broker is needed; another topic is another query."""
    try:
        jars = kafka_jars()
    except NoJarsError as error:
        pytest.skip(str(error))
    words = (WITH_KAFKA, ",".join(map(str, jars)))
    first, second = describe_twice(Path(sys.executable), tmp_path, *words)
    assert list(first["kinds"]) == ["kafka_source"]
    assert [*unstable(first, second), *unseen(first)] == []


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.timeout(1200)
def test_a_query_on_delta_is_described_alike(tmp_path: Path) -> None:
    """One process after the other: both resolve Delta's jars in one cache."""
    first, second = describe_twice(environment(DELTA_LINE), tmp_path, WITH_DELTA, together=False)
    assert list(first["kinds"]) == ["delta_source"]
    assert [*unstable(first, second), *unseen(first)] == []
