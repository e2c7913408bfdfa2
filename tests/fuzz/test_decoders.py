"""No bytes make a decoder crash, hang or take memory: a value, or the error that it names."""

from __future__ import annotations

import tracemalloc
from typing import TYPE_CHECKING

import pytest

from tests.fuzz.engine import FindingError, Fuzz, Target, begin
from tests.fuzz.targets import targets

if TYPE_CHECKING:
    from collections.abc import Iterator

INPUTS = 300


@pytest.fixture(autouse=True)
def _traced() -> Iterator[None]:
    """Memory is traced here only: it slows everything."""
    tracemalloc.start()
    yield
    tracemalloc.stop()


def send_all(fuzz: Fuzz) -> None:
    for _ in range(INPUTS // fuzz.target.cost):
        fuzz.step()


@pytest.mark.parametrize("target", targets(), ids=lambda target: target.name)
def test_strange_bytes_are_a_value_or_a_named_error(target: Target) -> None:
    """A few hundred, the same ones every time; `make fuzz` sends millions."""
    fuzz = begin(target, seed=1)
    send_all(fuzz)


def crash(data: bytes) -> None:
    """A decoder that believes a length in its data."""
    if len(data) > 3 and data[3] > 127:
        raise IndexError


def swell(data: bytes) -> bytes:
    return b"x" * (200 << 20) if len(data) > 4 else data


@pytest.mark.parametrize("decode", [crash, swell])
def test_a_bad_decoder_is_found(decode: object) -> None:
    """An error that it does not name, and memory that its input does not account for."""
    target = Target(name="bad", seeds=(b"\0\0\0\0",), decode=decode)  # type: ignore[arg-type]
    fuzz = begin(target, seed=1)
    with pytest.raises(FindingError, match="input: b"):
        send_all(fuzz)


def test_what_reaches_new_lines_is_changed_further() -> None:
    """So a run gets past the first checks, deeper than its honest inputs lead."""
    target = next(each for each in targets() if each.name == "intent")
    fuzz = begin(target, seed=1)
    honest = fuzz.lines
    send_all(fuzz)
    assert fuzz.lines > honest
    assert len(fuzz.corpus) > len(target.seeds)
