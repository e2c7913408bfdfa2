"""The JSON document of one change: all sources and the config hash together, with a checksum.

The format number is read before the checksum: a later version may sum otherwise, and what it
wrote must never pass for damage.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson

from holdfast.errors import ConfigError, CorruptionError
from holdfast.manifest.envelope import (
    FORMAT,
    check_format,
    check_seal,
    seal,
    writer_from_json,
    writer_to_json,
)
from holdfast.manifest.fields import Fields, decode_base64, parse_object
from holdfast.sessions.state import SourceCheckpoint, SourceState
from holdfast.settings import MIB
from holdfast.version import VERSION

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from holdfast.ids import Writer

DOCUMENT_BYTES_MAX = 16 * MIB


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One change: its number, who made it, and the whole state after it."""

    number: int
    nonce: str
    writer: Writer
    written_ms: int
    state: SourceState

    def encode(self) -> bytes:
        """The bytes to store.

        Raises:
            ConfigError: the configuration holds what JSON cannot, or all of it is too big.
        """
        try:
            data = seal(orjson.dumps(self._body(), option=orjson.OPT_SORT_KEYS))
        except TypeError as error:
            raise ConfigError("source checkpoints hold what JSON cannot", reason=error) from error
        if len(data) > DOCUMENT_BYTES_MAX:
            raise ConfigError(
                "source checkpoints are too big for one document",
                hint="use shorter positions, or a shorter configuration",
                bytes=len(data),
                bytes_max=DOCUMENT_BYTES_MAX,
            )
        return data

    def _body(self) -> dict[str, Any]:
        state, writer = self.state, self.writer
        return {
            "format": FORMAT,
            "version": VERSION,
            "number": self.number,
            "nonce": self.nonce,
            "writer": writer_to_json(writer),
            "written_ms": self.written_ms,
            **state_to_json(state),
        }

    @classmethod
    def decode(cls, data: Buffer, number: int) -> Document:
        """Read the document that was stored under this number.

        Raises:
            CorruptionError: not what was written, or written under another number.
            ConfigError: a later version of Holdfast wrote it.
        """
        what = f"source commit {number}"
        fields = parse_object(data, what)
        check_format(fields, what)
        check_seal(bytes(data), what)
        document = cls(
            number=fields.integer("number"),
            nonce=fields.text("nonce"),
            writer=writer_from_json(fields.object("writer")),
            written_ms=fields.integer("written_ms"),
            state=state_from_json(fields),
        )
        if document.number != number:
            raise CorruptionError(f"{what} is that of another number", found=document.number)
        return document


def state_to_json(state: SourceState) -> dict[str, Any]:
    """The state as fields of a document."""
    return {
        "sources": {name: _source(source) for name, source in state.sources.items()},
        "config_hash": state.config_hash,
        "config": state.config,
    }


def state_from_json(fields: Fields) -> SourceState:
    """The state that a document holds.

    Raises:
        CorruptionError: it holds something else.
    """
    return SourceState(
        sources=fields.mapping("sources", _checkpoint, missing_ok=False),
        config_hash=fields.optional_integer("config_hash"),
        config=_config(fields),
    )


def _source(source: SourceCheckpoint) -> dict[str, Any]:
    position = source.source_position
    text = None if position is None else base64.b64encode(position).decode()
    return {"sequence": source.sequence, "position": text}


def _checkpoint(value: object, what: str) -> SourceCheckpoint:
    fields = Fields(value, what)
    sequence, text = fields.integer("sequence"), fields.optional_text("position")
    position = None if text is None else decode_base64(text, f"{what}.position")
    return SourceCheckpoint(sequence, position)


def _config(fields: Fields) -> dict[str, Any] | None:
    value = fields.optional("config")
    if value is not None and not isinstance(value, dict):
        raise fields.wrong("config", "object", value)
    return value
