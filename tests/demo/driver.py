"""A small streaming job on the core: counts orders by product, batch after batch.

It stands for what Spark will do: plan a batch (which rows), run it, commit its state.
Everything that it knows of the past comes from the store.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from pathlib import Path

from holdfast.chain import Chain, ChainWriter, NewFile
from holdfast.errors import FencedError
from holdfast.ids import Writer
from holdfast.objectstore import Meter, open_store
from holdfast.settings import ChainSettings

ROWS_PER_BATCH = 500


def main(url: str, orders: str, name: str, pause: str) -> int:
    rows = Path(orders).read_text().splitlines()
    meter = Meter()
    writer_name = Writer.here(name)
    settings = ChainSettings(retain=10, full_every=8)
    chain = Chain(
        open_store(url, meter=meter), "shop/orders", settings=settings, writer=writer_name
    )
    writer = chain.claim(deep=True)
    say(f"claimed as checkpoint {writer.head.number}, after batch {writer.head.batch}")
    started, first = meter.usage(), writer.head.next_batch
    try:
        run(chain, writer, rows, float(pause))
    except FencedError as error:
        say(f"FencedError: {error.message} by {error.details['by']}")
        return 3
    writer.write_hint()
    used, batches = meter.usage() - started, writer.head.next_batch - first
    say(f"finished: {used.total / max(batches, 1):.2f} requests a batch")
    return 0


def run(chain: Chain, writer: ChainWriter, rows: list[str], pause: float) -> None:
    shown = writer.head.shown_plan
    while True:
        batch = writer.head.next_batch
        counts, done = state(chain, writer)
        if shown is not None:
            start, stop = json.loads(shown.contents()[f"offsets/{batch}"])
            say(f"batch {batch} was planned before: rows {start}..{stop} again")
            shown = None
        elif done >= len(rows):
            return
        else:
            start, stop = done, min(done + ROWS_PER_BATCH, len(rows))
            writer.intent(batch, [small(f"offsets/{batch}", [start, stop])])
        say(f"batch {batch} runs")
        time.sleep(pause)
        counts.update(rows[start:stop])
        files = [small("state/counts", counts), small("state/done", stop)]
        number = writer.commit(batch, files, removed=[f"offsets/{batch - 2}"]).number
        say(f"batch {batch} is checkpoint {number}: {sum(counts.values()):,} orders")


def state(chain: Chain, writer: ChainWriter) -> tuple[Counter[str], int]:
    if writer.head.batch < 0:
        return Counter(), 0
    files = chain.read(writer.head, ["state/counts", "state/done"])
    return Counter(json.loads(files["state/counts"])), int(files["state/done"])


def small(path: str, value: object) -> NewFile:
    now_ms = time.time_ns() // 1_000_000
    return NewFile(path=path, mtime_ms=now_ms, body=json.dumps(value).encode())


def say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
