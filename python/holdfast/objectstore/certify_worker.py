"""One writer in a process of its own: reads tasks by line, answers each with one word.

`certify` runs it. The first line holds the store's URL, so that no secret is in the arguments or
the environment; the end of the input ends it, also when its parent was killed.
"""

from __future__ import annotations

import sys
from typing import IO

import orjson

from holdfast.errors import HoldfastError
from holdfast.objectstore.base import ObjectStore, PutMode
from holdfast.objectstore.certify_race import attempt
from holdfast.objectstore.url import open_store, probe


def serve(tasks: IO[bytes], answers: IO[bytes]) -> None:
    """Answer until the input ends."""
    store: ObjectStore | None = None
    for line in tasks:
        task = orjson.loads(line)
        try:
            if store is None:
                store = _open(task["url"])
                answer = "ready"
            else:
                mode = PutMode(task["kind"], task["etag"])
                answer = attempt(store, task["key"], task["body"], mode)
        except HoldfastError:
            answer = "failed"
        answers.write(answer.encode() + b"\n")
        answers.flush()


def _open(url: str) -> ObjectStore:
    store = open_store(url)
    probe(store)  # also the connection is there, when the race begins
    return store


if __name__ == "__main__":
    serve(sys.stdin.buffer, sys.stdout.buffer)
