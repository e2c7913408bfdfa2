"""A stop without a reason that we know is a defect; a reason that we gave ourselves is none."""

from __future__ import annotations

import pytest

from tests.chaos.stops import why


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("holdfast.errors.FencedError: query 'q' was claimed", "FencedError"),
        ("SparkException: Job aborted due to stage failure: Task 0", "tasks failed"),
        (
            "psycopg.errors.ConnectionTimeout: connection timeout expired",
            "the database did not answer in time",
        ),
    ],
)
def test_a_stop_that_chaos_explains_is_no_defect(text: str, name: str) -> None:
    assert why(text) == (name, False)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("KeyError: 'state/0/1'", "no clear reason"),
        ("psycopg.errors.DeadlockDetected: deadlock detected", "no clear reason"),
        ("BridgeError: a defect in holdfast: no such call", "BridgeError"),
    ],
)
def test_any_other_stop_is_a_defect(text: str, name: str) -> None:
    assert why(text) == (name, True)
