"""Who a query is: the id in its file `metadata`, which every query needs of its own."""

from __future__ import annotations

import hashlib
import uuid
from typing import TYPE_CHECKING, Any

import orjson

from holdfast.sparkfiles.locations import beside, holds_locations, relocated
from holdfast.sparkfiles.paths import METADATA

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.ids import Nonces

SINKS_NOTE = "sinks"


def parse_query_id(body: bytes) -> str:
    """Spark's id of the query, from its file `metadata`; empty where it is not as expected."""
    try:
        value = orjson.loads(body)["id"]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return ""
    return value if isinstance(value, str) else ""


def with_query_id(body: bytes, query_id: str) -> bytes:
    """The same `metadata` with another id; what is not as expected stays as it is."""
    if not parse_query_id(body):
        return body
    return orjson.dumps({**orjson.loads(body), "id": query_id})


def query_id_from(nonce: str) -> str:
    """A query's id, made of a nonce: no one else will ever have it."""
    return str(uuid.UUID(bytes=hashlib.sha256(nonce.encode()).digest()[:16], version=4))


class Clone:
    """What a clone of a Spark query must have of its own: its id, and its own absolute paths."""

    def __init__(self, query: str, nonces: Nonces) -> None:
        self._query = query
        self._nonces = nonces

    def wants(self, path: str) -> bool:
        return path == METADATA or holds_locations(path)

    def rewrite(self, path: str, body: bytes) -> bytes:
        """The file as the clone has it.

        Raises:
            CorruptionError: it may hold absolute paths, and cannot be read.
        """
        if path == METADATA:
            return with_query_id(body, query_id_from(self._nonces()))
        return relocated(body, lambda root: beside(root, self._query))

    def notes(self, notes: Mapping[str, Any]) -> dict[str, Any]:
        """No sink has taken a batch of the clone yet."""
        return {name: note for name, note in notes.items() if name != SINKS_NOTE}
