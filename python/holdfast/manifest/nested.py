"""The nested types of a checkpoint manifest; fields that they do not know are kept in `extra`."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

from holdfast.errors import CorruptionError
from holdfast.manifest.fields import Fields, as_text, decode_base64

if TYPE_CHECKING:
    from typing_extensions import Buffer


@dataclass(slots=True)
class ConnectorCheckpoint:
    """Where a source stands: offsets as text, by the source's own names."""

    offsets: dict[str, str] = field(default_factory=dict)
    epoch: int = 0
    metadata: dict[str, str] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def new(cls, epoch: int) -> ConnectorCheckpoint:
        return cls(epoch=epoch)

    @classmethod
    def with_offsets(cls, epoch: int, offsets: dict[str, str]) -> ConnectorCheckpoint:
        return cls(offsets=dict(offsets), epoch=epoch)

    def to_json(self) -> dict[str, Any]:
        own = {"offsets": self.offsets, "epoch": self.epoch, "metadata": self.metadata}
        return {**own, **self.extra, **own}

    @classmethod
    def from_json(cls, value: object, what: str) -> ConnectorCheckpoint:
        fields = Fields(value, what)
        return cls(
            offsets=fields.mapping("offsets", as_text, missing_ok=False),
            epoch=fields.integer("epoch"),
            metadata=fields.mapping("metadata", as_text),
            extra=fields.rest(),
        )


@dataclass(slots=True)
class OperatorCheckpoint:
    """An operator's state: inline as base64, or a range of the checkpoint's sidecar."""

    state_b64: str | None = None
    external: bool = False
    external_offset: int = 0
    external_length: int = 0
    extra: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def inline(cls, data: Buffer) -> OperatorCheckpoint:
        return cls(state_b64=base64.b64encode(data).decode())

    @classmethod
    def at(cls, offset: int, length: int) -> OperatorCheckpoint:
        """A range of the sidecar (`external` in the seed, where a field has that name too)."""
        return cls(external=True, external_offset=offset, external_length=length)

    @classmethod
    def from_bytes(
        cls, data: bytes, threshold: int, offset: int
    ) -> tuple[OperatorCheckpoint, bytes | None]:
        """Inline up to the threshold; above it a range at `offset`, and the bytes to put there."""
        if len(data) <= threshold:
            return cls.inline(data), None
        return cls.at(offset, len(data)), data

    def decode_inline(self) -> bytes | None:
        """The inline bytes, if there are any.

        Raises:
            CorruptionError: the text is not base64.
        """
        return None if self.state_b64 is None else decode_base64(self.state_b64, "inline state")

    def to_json(self) -> dict[str, Any]:
        own = {
            "state_b64": self.state_b64,
            "external": self.external,
            "external_offset": self.external_offset,
            "external_length": self.external_length,
        }
        return {**own, **self.extra, **own}

    @classmethod
    def from_json(cls, value: object, what: str) -> OperatorCheckpoint:
        fields = Fields(value, what)
        return cls(
            state_b64=fields.optional_text("state_b64"),
            external=fields.boolean("external", default=False),
            external_offset=fields.integer("external_offset", default=0),
            external_length=fields.integer("external_length", default=0),
            extra=fields.rest(),
        )


@dataclass(slots=True)
class InFlightRecord:
    """One event that was under way when an unaligned checkpoint was taken."""

    input_id: int
    data_b64: str
    extra: dict[str, Any] = field(default_factory=dict)

    def decode(self) -> bytes:
        """The event's bytes.

        Raises:
            CorruptionError: the text is not base64.
        """
        return decode_base64(self.data_b64, "in-flight record")

    def to_json(self) -> dict[str, Any]:
        own = {"input_id": self.input_id, "data_b64": self.data_b64}
        return {**own, **self.extra, **own}

    @classmethod
    def from_json(cls, value: object, what: str) -> InFlightRecord:
        fields = Fields(value, what)
        return cls(
            input_id=fields.integer("input_id"),
            data_b64=fields.text("data_b64"),
            extra=fields.rest(),
        )


class SinkState(Enum):
    """How far a sink is with an epoch."""

    PENDING = "Pending"
    COMMITTED = "Committed"
    FAILED = "Failed"


@dataclass(frozen=True, slots=True)
class SinkCommitStatus:
    """A sink's state, with its message where it failed."""

    state: SinkState
    message: str = ""

    @classmethod
    def pending(cls) -> SinkCommitStatus:
        return cls(SinkState.PENDING)

    @classmethod
    def committed(cls) -> SinkCommitStatus:
        return cls(SinkState.COMMITTED)

    @classmethod
    def failed(cls, message: str) -> SinkCommitStatus:
        return cls(SinkState.FAILED, message)

    def to_json(self) -> str | dict[str, str]:
        name: str = self.state.value
        return {name: self.message} if self.state is SinkState.FAILED else name

    @classmethod
    def from_json(cls, value: object, what: str) -> SinkCommitStatus:
        if value in (SinkState.PENDING.value, SinkState.COMMITTED.value):
            return cls(SinkState(value))
        if isinstance(value, dict) and list(value) == [SinkState.FAILED.value]:
            return cls.failed(as_text(value[SinkState.FAILED.value], what))
        raise CorruptionError(f"{what} is not a sink's status", found=repr(value)[:80])
