"""What a staged value means: positions that stay, sequences that do not go back, limits."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.errors import ConfigError, MisuseError
from holdfast.sessions import CLEAR, SourceCheckpoint, SourceCheckpoints
from tests.sessions.support import commit

U64_MAX = 2**64 - 1


def _stage(checkpoints: SourceCheckpoints, *staged: tuple[int, Any]) -> SourceCheckpoint | None:
    with checkpoints.session():
        for sequence, position in staged:
            checkpoints.stage_checkpoint("a", sequence, position)
    return checkpoints.read_checkpoint("a")


def test_no_position_keeps_the_committed_one(checkpoints: SourceCheckpoints) -> None:
    """`None` is "nothing new", not "delete"."""
    _stage(checkpoints, (1, b"one"))
    assert _stage(checkpoints, (2, None)) == SourceCheckpoint(2, b"one")


def test_no_position_keeps_the_staged_one(checkpoints: SourceCheckpoints) -> None:
    """Within a session the last position given counts, a cleared one too."""
    assert _stage(checkpoints, (1, b"one"), (2, None)) == SourceCheckpoint(2, b"one")
    assert _stage(checkpoints, (3, CLEAR), (4, None)) == SourceCheckpoint(4, None)


def test_clear_deletes_the_position(checkpoints: SourceCheckpoints) -> None:
    """Only asking for it deletes a stored position."""
    _stage(checkpoints, (1, b"one"))
    assert _stage(checkpoints, (2, CLEAR)) == SourceCheckpoint(2, None)


def test_empty_position_is_a_position(checkpoints: SourceCheckpoints) -> None:
    """No bytes and no position differ, and both survive a commit."""
    assert _stage(checkpoints, (1, b"")) == SourceCheckpoint(1, b"")
    assert _stage(checkpoints, (2, CLEAR)) == SourceCheckpoint(2, None)


def test_other_sources_are_untouched(checkpoints: SourceCheckpoints) -> None:
    """A commit changes the sources it staged and no others."""
    commit(checkpoints, a=1, b=5)
    commit(checkpoints, a=2)
    assert checkpoints.read_all_checkpoints() == {
        "a": SourceCheckpoint(2, b"2"),
        "b": SourceCheckpoint(5, b"5"),
    }


@pytest.mark.parametrize("known", ["committed", "staged"])
def test_a_sequence_does_not_go_back(checkpoints: SourceCheckpoints, known: str) -> None:
    """A counter that began anew is an error at once, not events lost as duplicates later."""
    if known == "committed":
        commit(checkpoints, a=7)
    checkpoints.begin()
    checkpoints.stage_checkpoint("a", 7, b"7")
    with pytest.raises(MisuseError, match="goes back"):
        checkpoints.stage_checkpoint("a", 6)
    checkpoints.commit()
    assert checkpoints.read_checkpoint("a") == SourceCheckpoint(7, b"7")


def test_an_equal_sequence_may_move_the_position(checkpoints: SourceCheckpoints) -> None:
    """A source's position can move on while it has no events."""
    _stage(checkpoints, (7, b"early"))
    assert _stage(checkpoints, (7, b"late")) == SourceCheckpoint(7, b"late")


def test_a_rewind_is_said_and_has_a_position(checkpoints: SourceCheckpoints) -> None:
    """Going back on purpose works, but never to an old sequence with a new position."""
    commit(checkpoints, a=7)
    checkpoints.begin()
    with pytest.raises(MisuseError, match="rewind needs the position"):
        checkpoints.stage_checkpoint("a", 2, rewind=True)
    checkpoints.stage_checkpoint("a", 2, b"2", rewind=True)
    checkpoints.commit()
    assert checkpoints.read_checkpoint("a") == SourceCheckpoint(2, b"2")


@pytest.mark.parametrize("sequence", [0, 1, 2**63, U64_MAX])
def test_sequences_are_exact_to_64_bits(checkpoints: SourceCheckpoints, sequence: int) -> None:
    """No sequence loses a digit on its way."""
    assert _stage(checkpoints, (sequence, None)) == SourceCheckpoint(sequence, None)


@pytest.mark.parametrize("sequence", [-1, U64_MAX + 1, 1.0, "1", None, True])
def test_other_sequences_are_refused(checkpoints: SourceCheckpoints, sequence: Any) -> None:
    """What is no unsigned 64-bit integer is refused when it is staged."""
    with pytest.raises(ConfigError, match="unsigned 64-bit"), checkpoints.session():
        checkpoints.stage_checkpoint("a", sequence)


@pytest.mark.parametrize("position", ["text", 5, bytearray(b"x"), b"x" * (64 * 1024 + 1)])
def test_other_positions_are_refused(checkpoints: SourceCheckpoints, position: Any) -> None:
    """Positions are bytes, at most 64 KiB of them."""
    with pytest.raises(ConfigError, match="a source position"), checkpoints.session():
        checkpoints.stage_checkpoint("a", 1, position)


@pytest.mark.parametrize("source", ["", "x" * 1025, "ü" * 513, "\ud800"])
def test_other_source_ids_are_refused(checkpoints: SourceCheckpoints, source: str) -> None:
    """Source ids are text that JSON can hold, of a bounded length."""
    with pytest.raises(ConfigError, match="a source id"), checkpoints.session():
        checkpoints.stage_checkpoint(source, 1)


@pytest.mark.parametrize("source", ["../a/b", "kafka:orders\n0", "ü" * 512, "\x00", "config_hash"])
def test_any_other_text_is_a_source_id(checkpoints: SourceCheckpoints, source: str) -> None:
    """Source ids never become keys, so they need no escaping."""
    with checkpoints.session():
        checkpoints.stage_checkpoint(source, 1, b"p")
    assert checkpoints.read_all_checkpoints() == {source: SourceCheckpoint(1, b"p")}
