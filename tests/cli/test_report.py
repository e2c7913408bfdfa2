"""Numbers and tables as people read them."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from holdfast.report.documents import address
from holdfast.report.tables import Column, View, grid, plain
from holdfast.report.units import (
    age_text,
    count_text,
    duration_text,
    iso_utc,
    ranges_text,
    size_text,
    utc_text,
    when_text,
)

NOW_MS = 1_700_000_000_000


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (None, ""),
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (10 * 1024 - 1, "10 KiB"),
        (1024**2 - 1, "1.0 MiB"),
        (3_355_443, "3.2 MiB"),
        (2**64 - 1, "16 EiB"),
        (2**80, "1048576 EiB"),
    ],
)
def test_bytes_have_two_digits_and_a_unit(count: int | None, text: str) -> None:
    """Never 1024 of a unit that has a greater one."""
    assert size_text(count) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (119, "119 s"),
        (120, "2 min"),
        (7199, "119 min"),
        (7200, "2 h"),
        (172_800, "2 d"),
    ],
)
def test_ages_have_one_unit(seconds: int, text: str) -> None:
    """And at least two of it."""
    assert duration_text(seconds * 1000) == text


def test_a_time_to_come_means_that_clocks_differ() -> None:
    """It is not hidden as 0 s."""
    assert age_text(NOW_MS + 90_000, NOW_MS) == "in 90 s"
    assert when_text(NOW_MS + 90_000, NOW_MS) == "2023-11-14 22:14:50 UTC (in 90 s)"


def test_times_are_told_both_ways() -> None:
    """When, and how long ago."""
    assert when_text(NOW_MS, NOW_MS + 5000) == "2023-11-14 22:13:20 UTC (5 s ago)"
    assert when_text(None, NOW_MS) == "at an unknown time"


@pytest.mark.parametrize("time_ms", [2**64 - 1, -(2**63)])
def test_a_time_that_no_calendar_has_is_no_error(time_ms: int) -> None:
    """A manifest may hold any number."""
    assert iso_utc(time_ms) is None
    assert utc_text(time_ms) == f"{time_ms} ms"


def test_counts_and_ranges() -> None:
    """Plurals, thousands, runs."""
    assert [count_text(n, "query") for n in (1, 2)] == ["1 query", "2 queries"]
    assert count_text(20_000, "file") == "20,000 files"
    assert ranges_text([7, 1, 2, 3, 9, 10]) == "1-3, 7, 9-10"


def test_an_address_can_be_typed_again() -> None:
    """Escaped, before the options of the store's URL."""
    store = "s3://bucket/prefix?endpoint_url=http://x"
    assert address(store, "eu/a b") == "s3://bucket/prefix/eu/a%20b?endpoint_url=http://x"
    assert address(store, "") == store


def shown(columns: list[Column], rows: list[list[object]], width: int) -> str:
    screen = Console(file=io.StringIO(), width=width)
    for renderable in grid(columns, rows, View(now_ms=0, width=width)):  # type: ignore[arg-type]
        screen.print(renderable)
    assert isinstance(screen.file, io.StringIO)
    return screen.file.getvalue()


COLUMNS = [Column("NAME"), Column("LEAST", drop=2), Column("LESS", drop=1)]


@pytest.mark.parametrize(
    ("width", "heads"),
    [(30, ["NAME", "LEAST", "LESS"]), (14, ["NAME", "LESS"]), (6, ["NAME"])],
)
def test_columns_go_by_their_rank_where_there_is_no_room(width: int, heads: list[str]) -> None:
    """And what has gone is named."""
    text = shown(COLUMNS, [["abcd", "e", "f"]], width)
    assert text.splitlines()[0].split() == heads
    assert ("no room" in " ".join(text.split())) == (len(heads) < 3)


def test_a_column_that_is_empty_throughout_is_left_out() -> None:
    """It has not lacked room."""
    text = shown(COLUMNS, [["abcd", "", "f"]], 80)
    assert text.splitlines()[0].split() == ["NAME", "LESS"]
    assert "no room" not in text


def test_names_from_a_store_cannot_forge_what_is_shown() -> None:
    """No escape sequence, no line of their own, no markup."""
    text = shown([Column("NAME")], [["\x1b[2Jx\nok [bold]y[/bold]"]], 80)
    assert "\x1b" not in text
    assert r"\x1b[2Jx\nok [bold]y[/bold]" in text
    assert plain("größer 数") == "größer 数"
