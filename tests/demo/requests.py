"""What Spark's own managers send for the same batch, as `make bench` measured it."""

from __future__ import annotations

import json

from tests.bench.contenders import TITLES
from tests.bench.plot import KEPT

_SETTING = "hdfs-{partitions}"


def stock_requests(partitions: int) -> list[str]:
    """A line for each of them; how to find out, where none were measured."""
    if not KEPT.is_file():
        return ["`make bench` measures what Spark's own managers send"]
    document = json.loads(KEPT.read_text())
    measured = document["settings"].get(_SETTING.format(partitions=partitions), {})
    lines = [
        f"{TITLES[name]}: {row['requests']:,.0f} a batch"
        for name, row in measured.get("contenders", {}).items()
        if name.startswith("s3a")
    ]
    return [*lines, f"(measured {document['date'][:10]}, {partitions} partitions)"]
