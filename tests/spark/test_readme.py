"""The README's lines are run: in an empty process, and once more to go on."""

from __future__ import annotations

import re
import sqlite3
from typing import TYPE_CHECKING

from tests.readme import readme_code
from tests.spark.scripts import run_script
from tests.trust import trusted

if TYPE_CHECKING:
    from pathlib import Path

STORE = "file:///tmp/holdfast"


def test_the_readmes_lines_run_and_go_on(tmp_path: Path) -> None:
    """As they stand, but for the store's place; a second run goes on after the first."""
    *blocks, _ = readme_code()
    code = "\n".join(blocks)
    assert code.count(STORE) == 1
    code = code.replace(STORE, trusted((tmp_path / "store").as_uri()))
    first = printed_batch(run_script(code, tmp_path))
    assert printed_batch(run_script(code, tmp_path)) >= first + 3
    with sqlite3.connect(tmp_path / "counts.db") as sink:
        doubled = "SELECT batch, sku FROM counts GROUP BY batch, sku HAVING count(*) > 1"
        assert sink.execute(doubled).fetchall() == []
        assert sink.execute("SELECT max(batch) FROM counts").fetchone()[0] >= 1


def printed_batch(text: str) -> int:
    found = re.search(r"\bbatch=(\d+)", text)
    assert found, text
    return int(found[1])
