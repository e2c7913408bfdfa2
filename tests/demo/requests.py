"""What Spark's own managers send for the same batch, as `make bench` measured it."""

from __future__ import annotations

import json
from pathlib import Path

BENCH = Path(__file__).parents[1] / "bench" / "results.json"


def stock_requests(partitions: int) -> list[str]:
    """A line for each of them; nothing where the bench has not been run."""
    if not BENCH.is_file():
        return ["`make bench` measures what Spark's own managers send"]
    results = json.loads(BENCH.read_text())
    lines = [
        f"{row['contender']}: {row['requests_per_batch']:.0f} a batch"
        for row in results["spark"]
        if row["partitions"] == partitions and row["contender"].startswith("S3A")
    ]
    return [*lines, f"(measured {results['date']}, {partitions} partitions)"] if lines else []
