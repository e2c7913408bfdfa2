"""Spark's offset log, as far as a manifest repeats it: where each source stands, the watermark.

Spark owns this format. A line that is not understood is left out: the log itself is in the
checkpoint, byte for byte, and nothing is decided by what is read here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import orjson

from holdfast.manifest import ConnectorCheckpoint

_VOID = "-"
_HEADER_LINES = 2
_PARTITIONS = "spark.sql.shuffle.partitions"


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchOffsets:
    """What a batch reads up to, by source: its index, or its name from version 2 on.

    `partitions` is how many each of its state operators has.
    """

    ends: dict[str, str] = field(default_factory=dict)
    watermark_ms: int | None = None
    partitions: int | None = None

    def connectors(self, batch: int) -> dict[str, ConnectorCheckpoint]:
        """The same as a manifest's `source_offsets`."""
        return {
            name: ConnectorCheckpoint(offsets={"offset": end}, epoch=batch + 1)
            for name, end in self.ends.items()
        }


def parse_offsets(body: bytes) -> BatchOffsets:
    """Read `offsets/N`."""
    lines = body.decode("utf-8", errors="replace").split("\n")
    if len(lines) < _HEADER_LINES or not lines[0].startswith("v"):
        return BatchOffsets()
    if lines[0].strip() == "v1":
        pairs = [(str(index), text) for index, text in enumerate(lines[_HEADER_LINES:])]
    else:
        split = [line.partition(":") for line in lines[_HEADER_LINES:]]
        pairs = [(name, text) for name, colon, text in split if colon]
    metadata = _metadata(lines[1])
    return BatchOffsets(
        ends={name: text for name, text in pairs if text not in (_VOID, "")},
        watermark_ms=_positive(metadata.get("batchWatermarkMs")),
        partitions=_partitions(metadata.get("conf")),
    )


def _metadata(line: str) -> dict[str, Any]:
    try:
        found = orjson.loads(line)
    except orjson.JSONDecodeError:
        return {}
    return found if isinstance(found, dict) else {}


def _positive(value: object) -> int | None:
    return value if type(value) is int and value > 0 else None


def _partitions(conf: object) -> int | None:
    text = conf.get(_PARTITIONS) if isinstance(conf, dict) else None
    return int(text) if isinstance(text, str) and text.isascii() and text.isdigit() else None
