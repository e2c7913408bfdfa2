"""The fault matrix as a table: rows are rules, columns are steps; kept in tests/README.md."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tests.faults.rules import Act
from tests.faults.steps import STEPS, Span, Step, applies

if TYPE_CHECKING:
    from collections.abc import Mapping

README = Path(__file__).parents[1] / "README.md"
BEGIN, END = "<!-- fault matrix -->", "<!-- end of fault matrix -->"
NOTHING = "-"


def cell_text(texts: Mapping[Span, str]) -> str:
    """One fault, then the lasting one; once where both come to the same."""
    once, always = texts[Span.ONCE], texts[Span.ALWAYS]
    return once if once == always else f"{once}; {always}"


def render(texts: Mapping[tuple[Act, Step, Span], str]) -> str:
    """The table in Markdown."""
    lines = ["| | " + " | ".join(step.name for step in STEPS) + " |"]
    lines.append("|---" * (len(STEPS) + 1) + "|")
    for act in Act:
        cells = [
            cell_text({span: texts.get((act, step, span), "?") for span in Span})
            if applies(act, step)
            else NOTHING
            for step in STEPS
        ]
        lines.append(f"| {act.value} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def kept() -> dict[tuple[str, str], str]:
    """The table of tests/README.md, by rule and step."""
    _, _, rest = README.read_text().partition(BEGIN)
    rows = [_cells(line) for line in rest.partition(END)[0].splitlines() if line.startswith("|")]
    header, _, *body = rows
    return {
        (row[0], step): text for row in body for step, text in zip(header[1:], row[1:], strict=True)
    }


def expected(act: Act, step: Step, span: Span) -> str:
    """What the kept table says of one fault."""
    once, _, always = kept()[act.value, step.name].partition("; ")
    return once if span is Span.ONCE else always or once


def keep(table: str) -> None:
    """Replace the table in tests/README.md."""
    before, begin, rest = README.read_text().partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{README.name} has no place for the table")
    README.write_text(f"{before}{BEGIN}\n{table}\n{END}{after}")


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]
