"""One of several processes that save the same ids; prints which it won as JSON.

Run as `python race_worker.py DIRECTORY NAME COUNT`.
"""

from __future__ import annotations

import json
import sys

from holdfast.checkpoint import CheckpointStore
from holdfast.errors import AlreadyExistsError
from holdfast.manifest import CheckpointManifest
from holdfast.objectstore import LocalStore


def main(directory: str, name: str, count: int) -> None:
    checkpoints = CheckpointStore(LocalStore(directory), "q")
    won = []
    sys.stdin.readline()  # all start together
    for number in range(1, count + 1):
        manifest = CheckpointManifest.new(number, number)
        manifest.source_names = [name]
        try:
            checkpoints.save_with_state(manifest, f"{name} {number}".encode())
        except AlreadyExistsError:
            continue
        won.append(number)
    print(json.dumps(won))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
