"""The settings table is the code's: every key, its default and what it does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from holdfast.spark.options import KEYS, PREFIX, parse_options

CONF = Path(__file__).parents[2] / "conf"


def test_every_setting_is_documented_with_its_default() -> None:
    """One row each, in the code's words."""
    text = (CONF / "README.md").read_text()
    row = r"^\| `(spark\.holdfast\.[\w.]+)` \| (?:`(.*?)`)? ?\| (.+) \|$"
    rows = re.findall(row, text, flags=re.MULTILINE)
    documented = {name: (default, meaning) for name, default, meaning in rows}
    for key in KEYS:
        assert documented[f"{PREFIX}{key.name}"] == (key.default, key.meaning)


@pytest.mark.parametrize("path", sorted(CONF.glob("*.conf")), ids=lambda path: path.name)
def test_ready_settings_are_ones_that_exist(path: Path) -> None:
    """Each file parses, and names a store."""
    lines = (line for line in path.read_text().splitlines() if line and line[0] != "#")
    pairs = (line.split(None, 1) for line in lines)
    options = parse_options({key: value.strip() for key, value in pairs})
    assert options.stores[""].startswith(("file:///", "s3://"))
