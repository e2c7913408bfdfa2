"""Drivers killed with SIGKILL at any moment: the result is exact, and no row is there twice."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING

import pytest

from tests.spark.orders import counts_by_sku, write_orders
from tests.spark.queries import make_tables, read_counts, read_doubled

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.spark.processes import Child

LOCATION = "holdfast:///orders"


@pytest.mark.parametrize("kills", [pytest.param(3, id="3 kills")])
def test_the_result_is_exact_whoever_is_killed_and_when(
    kills: int, child: Callable[..., Child], store: str, tmp_path: Path
) -> None:
    """The Python driver, the JVM, or both; each successor starts on an empty spool."""
    folder, database = tmp_path / "orders", str(tmp_path / "sink.db")
    make_tables(database)
    dice = random.Random(kills)
    for kill in range(kills):
        write_orders(folder, files=6, first=6 * kill)
        with child() as driver:
            driver.start(store)
            driver.call("start_count", folder=str(folder), database=database, location=LOCATION)
            time.sleep(dice.uniform(0.2, 3.0))
            driver.kill(who=dice.choice(["python", "jvm", "both"]))
    with child() as last:
        last.start(store)
        last.call("finish_count", folder=str(folder), database=database, location=LOCATION)
        assert read_counts(database) == counts_by_sku(folder)
        assert read_doubled(database) == []
