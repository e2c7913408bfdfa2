"""What a real query left on its store, read by the seed's own crate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import holdfast
from tests.spark.orders import write_orders
from tests.spark.processes import Child
from tests.spark.queries import make_tables
from tests.trust import trusted

if TYPE_CHECKING:
    from pathlib import Path

    from tests.crate.conftest import Crate

pytestmark = [pytest.mark.crate, pytest.mark.spark, pytest.mark.timeout(1800)]


def test_a_real_query_is_listed_validated_and_recovered(crate: Crate, tmp_path: Path) -> None:
    """Of two runs, of which the second went on from the first."""
    store, folder, database = tmp_path.as_uri(), tmp_path / "orders", str(tmp_path / "sink.db")
    make_tables(database)
    for run in range(2):
        write_orders(folder, files=3, first=3 * run)
        with Child(tmp_path / f"driver-{run}.log") as driver:
            driver.start(trusted(store))
            driver.call(
                "finish_count", folder=str(folder), database=database, location="holdfast:///q"
            )
    chain = holdfast.Chain(holdfast.open_store(store), "q")
    numbers = [checkpoint.number for checkpoint in chain.history()]
    assert crate("list")["ids"] == numbers
    assert [one["id"] for one in crate("validate") if one["valid"]] == numbers
    assert crate("recover")["chosen_id"] == chain.recover().report.chosen == numbers[-1]
