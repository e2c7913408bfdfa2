"""Orders: the input of most tests, and what the answer to a query over all of them is."""

from __future__ import annotations

import json
import random
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

SCHEMA = "id long, sku string, amount long, at timestamp"
SKUS = 11
_START_S = 1_700_000_000


def write_orders(
    folder: Path, *, files: int, rows: int = 20, first: int = 0, skus: int = SKUS
) -> None:
    """Write files of orders, each whole at once; `first` is the number of the first file."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(first, first + files):
        lines = [json.dumps(order) for order in _orders(number, rows, skus)]
        hidden = folder / f".{number:06}.json"
        hidden.write_text("\n".join(lines) + "\n")
        hidden.rename(folder / f"{number:06}.json")


def _orders(number: int, rows: int, skus: int) -> list[dict[str, object]]:
    source = random.Random(number)
    return [
        {
            "id": number * 1_000_000 + place,
            "sku": f"sku-{source.randrange(skus)}",
            "amount": source.randrange(100),
            "at": _START_S + number * 60 + place,
        }
        for place in range(rows)
    ]


def all_orders(folder: Path) -> list[dict[str, object]]:
    """Every order that was written so far."""
    paths = sorted(folder.glob("[0-9]*.json"))
    return [json.loads(line) for path in paths for line in path.read_text().splitlines()]


def counts_by_sku(folder: Path) -> dict[str, int]:
    """The answer of the batch computation."""
    return dict(Counter(str(order["sku"]) for order in all_orders(folder)))
