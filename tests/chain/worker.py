"""A driver in a process of its own: commits batches until it is killed.

Each batch adds its number and its plan to an append-only log, the sink, before it is committed.
The store's URL comes on standard input, for it may carry credentials.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from holdfast.chain import Chain, NewFile
from holdfast.objectstore import open_store
from holdfast.settings import ChainSettings


def main(sink: str) -> None:
    settings = ChainSettings(retain=3, full_every=4, inline_bytes_max=200)
    chain = Chain(open_store(sys.stdin.readline().strip()), "orders", settings=settings)
    writer = chain.claim(deep=True)
    shown = writer.head.shown_plan
    print("claimed", writer.head.number, flush=True)
    while True:
        batch = writer.head.next_batch
        if shown is None:
            plan = f"{os.getpid()}"
            writer.intent(batch, [NewFile(path=f"offsets/{batch}", mtime_ms=1, body=plan.encode())])
        else:
            plan = shown.contents()[f"offsets/{batch}"].decode()
            shown = None
        with Path(sink).open("a") as log:
            log.write(f"{batch} {plan}\n")
        count = int(chain.read(writer.head, ["count"])["count"]) if batch else 0
        state = NewFile(path="count", mtime_ms=1, body=str(count + 1).encode())
        padding = NewFile(path=f"state/{batch}", mtime_ms=1, body=os.urandom(batch % 7 * 100))
        writer.commit(batch, [state, padding], removed=[f"state/{batch - 3}"] if batch > 2 else [])
        if batch % 4 == 3:
            writer.retain()
            writer.write_hint()


if __name__ == "__main__":
    main(sys.argv[1])
