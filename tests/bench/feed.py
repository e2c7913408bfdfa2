"""The query's input: files of orders, made once, and handed to each contender as it needs them."""

from __future__ import annotations

import json
import os
import random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

ROWS = 5_000
SKUS = 1_000
_VARIETY = 20  # so many different files; the rest repeats them
_START_S = 1_700_000_000


class Feed:
    """A folder that one query reads; each file in it is one batch."""

    def __init__(self, pool: Path, folder: Path) -> None:
        self._pool = sorted(pool.iterdir())
        self.folder = folder
        self._given = 0
        folder.mkdir(parents=True)

    def give(self, files: int) -> None:
        """Let the query see so many more files."""
        for _ in range(files):
            source = self._pool[self._given % len(self._pool)]
            hidden = self.folder / ".next.json"
            hidden.write_bytes(source.read_bytes())
            moment = _START_S + self._given
            os.utime(hidden, (moment, moment))  # the order in which Spark takes them
            hidden.rename(self.folder / f"{self._given:06}.json")
            self._given += 1


def make_pool(folder: Path) -> Path:
    """Some files, each of `ROWS` orders of `SKUS` kinds."""
    folder.mkdir(parents=True)
    for number in range(_VARIETY):
        order = random.Random(number)
        lines = (
            json.dumps({"sku": f"sku-{order.randrange(SKUS):05}", "amount": order.randrange(100)})
            for _ in range(ROWS)
        )
        (folder / f"{number:03}.json").write_text("\n".join(lines) + "\n")
    return folder
