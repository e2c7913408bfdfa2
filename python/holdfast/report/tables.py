"""Text for a terminal: tables that fit, fields in two columns, and nothing that a store can forge.

Whatever is shown may come from a store, so no text is taken for markup, and control characters
are shown as escapes: a file's name must not be able to clear a screen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import RenderableType

_GAP = 2

Cell: TypeAlias = "str | int | Text | None"

GOOD, BAD, WARN, QUIET, STRONG = "green", "bold red", "yellow", "dim", "bold"


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """Who looks: at what time, and through how wide a window."""

    now_ms: int
    width: int = 100


@dataclass(frozen=True, slots=True)
class Column:
    """A heading; where there is no room, columns go by their `drop`, the highest first, 0 never."""

    name: str
    drop: int = 0
    right: bool = False


def plain(text: object) -> str:
    """The text, with what is not printable as an escape."""
    raw = str(text)
    if raw.isprintable():
        return raw
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode()
        for character in raw
    )


def styled(text: object, style: str = "") -> Text:
    """Text that is shown as it is, never read as markup."""
    return Text(plain(text), style=style)


def line(*parts: str | Text) -> Text:
    """One line or paragraph put together."""
    return Text.assemble(*(part if isinstance(part, Text) else styled(part) for part in parts))


def joined(lines: Iterable[Text]) -> Text:
    return Text("\n").join(lines)


def heading(text: str) -> Text:
    return Text.assemble("\n", styled(text, STRONG))


def indented(renderable: RenderableType) -> RenderableType:
    return Padding.indent(renderable, _GAP)


def grid(
    columns: Sequence[Column], rows: Sequence[Sequence[Cell]], view: View
) -> Iterator[RenderableType]:
    """A table of what fits the width, and a line that names what does not.

    A column that is empty throughout is left out.
    """
    cells = [[_cell(value) for value in row] for row in rows]
    filled = [
        place for place in range(len(columns)) if not rows or any(row[place].plain for row in cells)
    ]
    shown = _fitting(filled, columns, cells, view.width)
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style=STRONG)
    for position in shown:
        column = columns[position]
        justify = "right" if column.right else "left"
        table.add_column(column.name, justify=justify, overflow="fold")  # type: ignore[arg-type]
    for row in cells:
        table.add_row(*(row[position] for position in shown))
    yield table
    hidden = [columns[place].name for place in filled if place not in shown]
    if hidden:
        yield styled(f"(no room for: {', '.join(hidden)})", QUIET)


def fields(pairs: Iterable[tuple[str, Cell]]) -> Table:
    """Names and values below each other; a value that is empty is left out."""
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), show_header=False)
    table.add_column(style=QUIET, no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in pairs:
        cell = _cell(value)
        if cell.plain:
            table.add_row(Text(name), cell)
    return table


def _cell(value: Cell) -> Text:
    if isinstance(value, Text):
        return value
    return Text() if value is None else styled(value)


def _fitting(
    filled: Sequence[int], columns: Sequence[Column], cells: Sequence[Sequence[Text]], width: int
) -> list[int]:
    """Positions of the columns that have room, in their order."""
    widths = [
        max([len(column.name), *(row[place].cell_len for row in cells)])
        for place, column in enumerate(columns)
    ]
    shown = list(filled)
    while sum(widths[place] + _GAP for place in shown) - _GAP > width:
        least = max(shown, key=lambda place: columns[place].drop)
        if not columns[least].drop:
            break
        shown.remove(least)
    return shown
