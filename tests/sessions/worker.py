"""A process that starts a query on a local store and commits until it is stopped.

It prints each sequence once its commit has returned, and `fenced` if another one took over.
"""

from __future__ import annotations

import sys
import time

from holdfast.errors import FencedError
from holdfast.objectstore import LocalStore
from holdfast.sessions import SourceCheckpoints, start


def main(directory: str, pause_s: float) -> None:
    checkpoints = SourceCheckpoints(LocalStore(directory), "query")
    point = start(checkpoints, {"plan": "count"}).resume_from("left")
    sequence = 0 if point is None else point.sequence
    print("resumed", sequence, flush=True)
    while True:
        sequence += 1
        position = str(sequence).encode()
        with checkpoints.session():
            checkpoints.stage_checkpoint("left", sequence, position)
            checkpoints.stage_checkpoint("right", sequence, position)
        print(sequence, flush=True)
        time.sleep(pause_s)


if __name__ == "__main__":
    try:
        main(sys.argv[1], float(sys.argv[2]))
    except FencedError as error:
        print("fenced", error, flush=True)
