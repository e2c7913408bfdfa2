"""Where a checkpoint lies, as Spark writes it down inside the checkpoint itself.

The state metadata of `transformWithState` names its schema files by absolute paths, below the
`checkpointLocation` that the query had. Elsewhere they must name the new one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import orjson

from holdfast.errors import CorruptionError

if TYPE_CHECKING:
    from collections.abc import Callable

_STATE_METADATA = re.compile(r"state/\d+/_metadata/v2/\d+")
_SCHEMA_FILE = re.compile(r"(?P<root>.*)/(?P<inside>state/\d+/_stateSchema/.+)", flags=re.DOTALL)
_ROOT = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*):(?://(?P<authority>[^/]*))?/.*")
_HEADER = b"v2\n"


def holds_locations(path: str) -> bool:
    """Whether the file with this path may hold absolute paths."""
    return _STATE_METADATA.fullmatch(path) is not None


def relocated(body: bytes, root_for: Callable[[str], str]) -> bytes:
    """The same state metadata, its schema files being below another root.

    `root_for` gets the root that is there, as Spark wrote it, and returns the new one.

    Raises:
        CorruptionError: this is not state metadata as Spark 4 writes it.
    """
    if not body.startswith(_HEADER):
        raise _unknown(f"begins with {body[:8]!a}")
    try:
        document = orjson.loads(body[len(_HEADER) :])
        stores = document["stateStoreInfo"]
        for store in stores:
            _relocate_store(store, root_for)
    except (orjson.JSONDecodeError, KeyError, TypeError) as error:
        raise _unknown(f"{type(error).__name__}: {error}") from error
    return _HEADER + orjson.dumps(document)


def _relocate_store(store: dict[str, Any], root_for: Callable[[str], str]) -> None:
    moved = []
    for text in store["stateSchemaFilePaths"]:
        found = _SCHEMA_FILE.fullmatch(text)
        if found is None:
            raise _unknown(f"a schema file is at {text}")
        moved.append(f"{root_for(found['root'])}/{found['inside']}")
    store["stateSchemaFilePaths"] = moved


def as_spark_writes(location: str) -> str:
    """A `checkpointLocation` as Hadoop prints it: `file:/data/x`, `holdfast:/orders`."""
    scheme, colon, rest = location.partition(":")
    rest = rest.rstrip("/")
    return f"{scheme}{colon}{rest[2:] if rest.startswith('///') else rest}"


def holdfast_location(query: str, *, store: str = "") -> str:
    """The `checkpointLocation` of a query: on the default store, or on one that has a name."""
    return f"holdfast://{store}/{query}"


def beside(root: str, query: str) -> str:
    """The root of another query of the same store, which the old root may name."""
    found = _ROOT.fullmatch(root)
    named = found["authority"] if found is not None and found["scheme"] == "holdfast" else ""
    return as_spark_writes(holdfast_location(query, store=named or ""))


def _unknown(reason: str) -> CorruptionError:
    return CorruptionError(
        "the state metadata of transformWithState is not as this version knows it, so the absolute "
        "paths inside it cannot be changed",
        hint="install a newer holdfast; this one knows Spark up to 4.3",
        reason=reason,
    )
