"""Where sources stand: the values that a session stages, commits and gives back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from holdfast.errors import ConfigError, MisuseError
from holdfast.settings import KIB, U64_MAX

if TYPE_CHECKING:
    from collections.abc import Mapping

POSITION_BYTES_MAX = 64 * KIB


@dataclass(frozen=True, slots=True)
class SourceCheckpoint:
    """How far a source was taken in: its own count, and where it can go on from.

    The position is the source's own bytes; no bytes (`b""`) and no position (`None`) differ.
    """

    sequence: int
    source_position: bytes | None = None

    def __post_init__(self) -> None:
        check_u64("sequence", self.sequence)
        if self.source_position is None:
            return
        if not isinstance(self.source_position, bytes):
            raise ConfigError(
                "a source position is bytes",
                hint="encode it, or stage `None` to keep the stored one",
                type=type(self.source_position).__name__,
            )
        if len(self.source_position) > POSITION_BYTES_MAX:
            raise ConfigError(
                "a source position is too long",
                hint="stage `None` instead: the stored one stays, and the source replays more",
                bytes=len(self.source_position),
                bytes_max=POSITION_BYTES_MAX,
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceState:
    """All that is committed: every source, and the configuration that they belong to."""

    sources: Mapping[str, SourceCheckpoint] = field(default_factory=dict)
    config_hash: int | None = None
    config: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        if self.config_hash is not None:
            check_u64("config hash", self.config_hash)

    @property
    def is_empty(self) -> bool:
        return not self.sources and self.config_hash is None and self.config is None


EMPTY: Final = SourceState()


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumePoint:
    """What a source needs to go on: replay from the position, or count from `next_sequence`."""

    source_id: str
    sequence: int
    source_position: bytes | None

    @property
    def next_sequence(self) -> int:
        """Where a source that numbers events itself must begin, lest they pass for old ones."""
        return self.sequence + 1

    def is_duplicate(self, sequence: int) -> bool:
        """Whether this event was taken in before: its sequence is at or below the checkpoint's.

        That holds for a source that replays from its position with the numbers it gave before.
        One without a stored position has nothing to replay from: an old number then means that
        its counter began anew, and skipping the event would lose it without a word.

        Raises:
            MisuseError: an old number from a source without a stored position.
        """
        if sequence > self.sequence:
            return False
        if self.source_position is None:
            raise MisuseError(
                "a source without a stored position sends an old sequence",
                hint="let it count from next_sequence; if it replays, stage a position with it",
                source=self.source_id,
                sequence=sequence,
                checkpoint=self.sequence,
            )
        return True


def resume_point(source_id: str, checkpoint: SourceCheckpoint) -> ResumePoint:
    return ResumePoint(
        source_id=source_id,
        sequence=checkpoint.sequence,
        source_position=checkpoint.source_position,
    )


def check_u64(name: str, value: int) -> None:
    """Raise `ConfigError` unless this is an unsigned 64-bit integer; `True` is none."""
    if type(value) is not int or not 0 <= value <= U64_MAX:
        raise ConfigError(f"a {name} is an unsigned 64-bit integer", value=repr(value)[:80])
