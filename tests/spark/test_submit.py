"""A job that is submitted with the flags that `holdfast submit-args` prints."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from tests.spark.orders import counts_by_sku, write_orders
from tests.spark.submitting import bare_python, submitted, typed

if TYPE_CHECKING:
    from pathlib import Path


def test_a_submitted_job_runs_on_holdfast(store: str, tmp_path: Path) -> None:
    """The package comes by --py-files and the shim by --jars, to executors of their own too."""
    python, orders = bare_python(tmp_path), tmp_path / "orders"
    bare = [str(python), "-c", "import pyspark, holdfast"]
    assert (
        "No module named 'holdfast'"
        in subprocess.run(bare, capture_output=True, text=True, check=False).stderr
    )
    write_orders(orders, files=2)
    master = "local-cluster[1,2,1024]"
    counts, batch, code = submitted(
        tmp_path, master=master, store=store, orders=orders, python=python
    )
    assert (counts, batch) == (counts_by_sku(orders), 1)
    assert ".zip/holdfast/" in code


def test_the_same_flags_serve_the_shell_of_pyspark(store: str, tmp_path: Path) -> None:
    """Its session is there already when the job asks for one."""
    python, orders = bare_python(tmp_path), tmp_path / "orders"
    write_orders(orders, files=2)
    counts, batch, _ = typed(tmp_path, master="local[2]", store=store, orders=orders, python=python)
    assert (counts, batch) == (counts_by_sku(orders), 1)
