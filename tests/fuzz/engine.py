"""Sends changed bytes into a decoder and looks at what comes out; what reaches new lines is kept.

Required of every input: a value or one of the errors that the decoder names, soon, and with no
more memory than an honest input of some size would take.
"""

from __future__ import annotations

import random
import sys
import time
import tracemalloc
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import holdfast
from tests.fuzz.mutations import mutate

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType

_PACKAGE = str(Path(holdfast.__file__).parent)
SECONDS_MAX = 2.0
_BYTES_MAX = 32 << 20
_BYTES_PER_BYTE_MAX = 400
_INPUT_BYTES_MAX = 1 << 16


class FindingError(Exception):
    """An input that a decoder does not take as it must; `data` does it again."""

    def __init__(self, target: str, data: bytes, what: str) -> None:
        super().__init__(f"{target}: {what}\n  input: {data!r}")
        self.data = data


@dataclass(frozen=True, kw_only=True)
class Target:
    """A decoder: honest inputs, what it may raise, and how a changed input is made plausible.

    `mend` puts checksums right, so that the changes reach what is behind them. `cost` is how much
    longer than others one input takes: fewer are sent where time is short.
    """

    name: str
    seeds: tuple[bytes, ...]
    decode: Callable[[bytes], object]
    errors: tuple[type[Exception], ...] = ()
    mend: Callable[[bytes], bytes] | None = None
    cost: int = 1


@dataclass(slots=True)
class Fuzz:
    """One run over one target: inputs that reached something new are changed further."""

    target: Target
    dice: random.Random
    corpus: list[bytes] = field(default_factory=list)
    inputs: int = 0
    _lines: set[tuple[CodeType, int]] = field(default_factory=set)

    def __post_init__(self) -> None:
        for seed in self.target.seeds:
            self.send(seed)
        self.corpus = list(self.target.seeds)

    @property
    def lines(self) -> int:
        return len(self._lines)

    def step(self) -> None:
        """One changed input.

        Raises:
            FindingError: the decoder does not take it as it must.
        """
        dice, target = self.dice, self.target
        if dice.randrange(50) == 0:
            data = dice.randbytes(dice.randrange(200))
        else:
            data = mutate(dice.choice(self.corpus), dice, self.corpus)[:_INPUT_BYTES_MAX]
        if target.mend is not None and dice.randrange(4):
            data = target.mend(data)
        if self.send(data):
            self.corpus.append(data)

    def send(self, data: bytes) -> bool:
        """Whether this input reached lines that none did before."""
        self.inputs += 1
        known = len(self._lines)
        tracemalloc.reset_peak()
        before, started = tracemalloc.get_traced_memory()[0], time.thread_time()
        sys.settrace(self._trace)
        try:
            self.target.decode(data)
        except self.target.errors:
            pass
        except Exception as error:
            sys.settrace(None)
            text = f"raises {type(error).__name__}: {error}"
            raise FindingError(self.target.name, data, text) from error
        finally:
            sys.settrace(None)
        self._require_modest(data, time.thread_time() - started, before)
        return len(self._lines) > known

    def _require_modest(self, data: bytes, seconds: float, before: int) -> None:
        peak = tracemalloc.get_traced_memory()[1] - before
        if seconds > SECONDS_MAX:
            raise FindingError(self.target.name, data, f"takes {seconds:.1f} s")
        if peak > _BYTES_MAX + _BYTES_PER_BYTE_MAX * len(data):
            raise FindingError(self.target.name, data, f"takes {peak:,} bytes of memory")

    def _trace(self, frame: FrameType, event: str, _: Any) -> Any:
        if event == "call":
            return self._trace if frame.f_code.co_filename.startswith(_PACKAGE) else None
        if event == "line":
            self._lines.add((frame.f_code, frame.f_lineno))
        return self._trace


def begin(target: Target, seed: int | str) -> Fuzz:
    """A run that the same seed repeats; its caller traces memory."""
    return Fuzz(target, random.Random(f"{seed} {target.name}"))
