"""One jar for every line of Spark: here an older one, with a Delta table as its sink."""

from __future__ import annotations

import pytest

from tests.lines.__main__ import DELTA_LINE, run


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("script", ["smoke.py", "delta.py"])
def test_an_older_line_of_spark_runs_the_same_jar(script: str) -> None:
    """An environment with it is made once, and kept; `make lines` has all of them."""
    assert run(DELTA_LINE, script)
