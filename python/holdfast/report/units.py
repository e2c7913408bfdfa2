"""Numbers as people read them: bytes, ages, times in UTC, counts and ranges."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_BINARY = ("KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
_STEP = 1024
_TWO_DIGITS = 10
_SECOND, _MINUTE, _HOUR, _DAY, _YEAR = 1000, 60_000, 3_600_000, 86_400_000, 31_557_600_000
# From this age on, in this unit: the change of unit leaves at least two to count.
_AGES = (
    (2 * _YEAR, _YEAR, "y"),
    (2 * _DAY, _DAY, "d"),
    (2 * _HOUR, _HOUR, "h"),
    (2 * _MINUTE, _MINUTE, "min"),
    (0, _SECOND, "s"),
)


def size_text(count: int | None) -> str:
    """`512 B`, `3.2 MiB`; nothing for what is not known."""
    if count is None:
        return ""
    if count < _STEP:
        return f"{count} B"
    value, place = count / _STEP, 0
    while round(value) >= _STEP and place < len(_BINARY) - 1:
        value, place = value / _STEP, place + 1
    unit = _BINARY[place]
    return f"{value:.1f} {unit}" if round(value, 1) < _TWO_DIGITS else f"{value:.0f} {unit}"


def duration_text(milliseconds: int) -> str:
    """`12 s`, `3 min`, `5 h`, `2 d`: one unit, for a glance."""
    for least, unit, name in _AGES:
        if milliseconds >= least:
            return f"{milliseconds // unit} {name}"
    return "0 s"


def age_text(time_ms: int | None, now_ms: int) -> str:
    """How long ago; a time that is still to come means that two clocks differ."""
    if time_ms is None:
        return ""
    if time_ms > now_ms + _SECOND:
        return f"in {duration_text(time_ms - now_ms)}"
    return duration_text(now_ms - time_ms)


def iso_utc(time_ms: int | None) -> str | None:
    """`2026-11-16T04:52:11.042Z`; none for what is no time that a calendar has."""
    moment = _moment(time_ms)
    if moment is None:
        return None
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03}Z"


def utc_text(time_ms: int | None) -> str:
    """`2026-11-16 04:52:11`, without the zone, which a heading tells."""
    if time_ms is None:
        return ""
    moment = _moment(time_ms)
    return f"{time_ms} ms" if moment is None else f"{moment:%Y-%m-%d %H:%M:%S}"


def when_text(time_ms: int | None, now_ms: int) -> str:
    """Both ways in one: `2026-11-16 04:52:11 UTC (12 s ago)`."""
    if time_ms is None:
        return "at an unknown time"
    age = age_text(time_ms, now_ms)
    return f"{utc_text(time_ms)} UTC ({age if age.startswith('in ') else f'{age} ago'})"


def count_text(count: int, noun: str) -> str:
    """`1 file`, `2,000 files`, `3 queries`."""
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{count:,} {noun if count == 1 else plural}"


def ranges_text(numbers: Iterable[int]) -> str:
    """`1-3, 7`: whole numbers with their runs drawn together."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][-1] + 1:
            runs[-1] = [runs[-1][0], number]
        else:
            runs.append([number])
    return ", ".join("-".join(map(str, run)) for run in runs)


def _moment(time_ms: int | None) -> datetime | None:
    if time_ms is None:
        return None
    try:
        return datetime.fromtimestamp(time_ms / 1000, tz=timezone.utc)
    except (OverflowError, OSError, ValueError):
        return None
