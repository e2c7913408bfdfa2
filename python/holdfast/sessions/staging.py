"""What one staged value means, given what is known of its source."""

from __future__ import annotations

from enum import Enum
from typing import Final, TypeAlias

from holdfast.errors import ConfigError, MisuseError
from holdfast.sessions.state import SourceCheckpoint
from holdfast.settings import KIB

SOURCE_ID_BYTES_MAX = 1 * KIB


class Clear(Enum):
    """The type of `CLEAR`."""

    CLEAR = "clear"


CLEAR: Final = Clear.CLEAR
"""Staged as a position, it deletes the stored one; `None` would keep it."""

StagedPosition: TypeAlias = bytes | Clear | None


def stage(
    source_id: str,
    known: SourceCheckpoint | None,
    sequence: int,
    position: StagedPosition,
    *,
    rewind: bool,
) -> SourceCheckpoint:
    """The checkpoint to commit; `known` is what was staged or committed last.

    An equal sequence is no step back: a position may move on without an event.

    Raises:
        MisuseError: the sequence goes back without `rewind`, or a rewind lacks a position.
        ConfigError: not a source id, an unsigned 64-bit sequence or a position.
    """
    check_source_id(source_id)
    if rewind and position is None:
        raise MisuseError("a rewind needs the position to go back to, or CLEAR", source=source_id)
    if position is None and known is not None:
        position = known.source_position
    staged = SourceCheckpoint(sequence, None if position is CLEAR else position)
    if known is not None and sequence < known.sequence and not rewind:
        raise MisuseError(
            "a source's sequence goes back",
            hint="let it count from resume_from(source).next_sequence, or stage with rewind=True",
            source=source_id,
            sequence=sequence,
            known=known.sequence,
        )
    return staged


def check_source_id(source_id: str) -> None:
    """Raise `ConfigError` unless this is a name that JSON can hold."""
    try:
        size = len(source_id.encode())
    except UnicodeEncodeError as error:
        raise ConfigError("a source id is not valid Unicode", source=ascii(source_id)) from error
    if not 0 < size <= SOURCE_ID_BYTES_MAX:
        raise ConfigError(
            "a source id has 1 to 1024 bytes in UTF-8", source=source_id[:80], bytes=size
        )
