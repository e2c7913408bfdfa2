"""The README's lines are run: in an empty process, and once more to go on."""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import sys
from typing import TYPE_CHECKING

from tests.readme import readme_code
from tests.trust import trusted

if TYPE_CHECKING:
    from pathlib import Path

STORE = "file:///tmp/holdfast"
SMALL = "--conf spark.sql.shuffle.partitions=2 --conf spark.ui.enabled=false pyspark-shell"


def test_the_readmes_lines_run_and_go_on(tmp_path: Path) -> None:
    """As they stand, but for the store's place; a second run goes on after the first."""
    *blocks, _ = readme_code()
    code = "\n".join(blocks)
    assert code.count(STORE) == 1
    code = code.replace(STORE, trusted((tmp_path / "store").as_uri()))
    first = run(code, tmp_path)
    later = code.replace(".batch < 2", f".batch < {first + 2}")
    assert run(later, tmp_path) >= first + 2
    with sqlite3.connect(tmp_path / "counts.db") as sink:
        doubled = "SELECT batch, sku FROM counts GROUP BY batch, sku HAVING count(*) > 1"
        assert sink.execute(doubled).fetchall() == []
        assert sink.execute("SELECT max(batch) FROM counts").fetchone()[0] >= 1


def run(code: str, folder: Path) -> int:
    """The batch that it prints."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={**os.environ, "PYSPARK_SUBMIT_ARGS": SMALL},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found = re.search(r"\bbatch=(\d+)", done.stdout)
    assert found, done.stdout
    return int(found[1])
