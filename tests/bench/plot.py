"""`make bench-plot`: the figures as a picture, beside it as they are, and in the README's table.

Plain SVG; its colours follow the reader's light or dark scheme.
"""

from __future__ import annotations

import json
import sys
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.bench import markdown
from tests.bench.contenders import TITLES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

MEASURED = Path("build/bench.json")
KEPT = Path(__file__).parent / "results" / "bench.json"
PICTURE = Path(__file__).parent / "results" / "bench.svg"
README = Path(__file__).parents[2] / "README.md"

_WIDTH, _LABEL, _GAP, _VALUE = 860, 176, 40, 62
_BAR, _STEP, _TOP = 14, 22, 66
_ROWS = 28  # from a setting's title to its first bar
_STYLE = """\
  text { font: 12px system-ui, sans-serif; fill: #1f2328; }
  .title { font-size: 14px; font-weight: 600; }
  .small { fill: #59636e; font-size: 11px; }
  .other { fill: #8c959f; }
  .floor { fill: #c8ced5; }
  .ours { fill: #0969da; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    .small { fill: #9198a1; }
    .other { fill: #6e7681; }
    .floor { fill: #3d444d; }
    .ours { fill: #4493f8; }
  }"""


def main() -> int:
    if not MEASURED.exists():
        print(f"there is no {MEASURED}: run `make bench` first")
        return 1
    document = json.loads(MEASURED.read_text())
    if document["quick"]:
        print(f"{MEASURED} is of a quick run, whose times say nothing: run `make bench`")
        return 1
    KEPT.parent.mkdir(exist_ok=True)
    KEPT.write_text(MEASURED.read_text())
    PICTURE.write_text(draw(document))
    README.write_text(markdown.put_into(README.read_text(), document))
    print(f"written to {PICTURE.relative_to(Path.cwd())}, with the figures beside it")
    return 0


def draw(document: Mapping[str, Any]) -> str:
    """The whole picture: a pair of charts for each setting."""
    parts, top = list(_heading(document)), _TOP
    for setting in document["settings"].values():
        parts += _setting(setting, top)
        top += _ROWS + 28 + _STEP * len(setting["contenders"])
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-8 0 {_WIDTH + 16} {top}" '
        f'width="{_WIDTH + 16}" height="{top}" role="img">\n'
        f"<title>Holdfast beside Spark's own checkpoints</title>\n"
        f"<style>\n{_STYLE}\n</style>\n{body}\n</svg>\n"
    )


def _heading(document: Mapping[str, Any]) -> Iterator[str]:
    on, of = document["machine"], document["versions"]
    yield _text(0, 18, "One stateful query, six kinds of checkpoint, one run", css="title")
    yield _text(
        0,
        36,
        f"Spark {of['spark']}, holdfast {of['holdfast']}, {on['cores']} cores, "
        f"{document['date'][:10]}; 5,000 rows a batch; shorter is better",
        css="small",
    )


def _setting(setting: Mapping[str, Any], top: int) -> Iterator[str]:
    yield _text(0, top, setting["title"], css="title")
    half = (_WIDTH - _LABEL - _GAP) // 2
    charts: tuple[tuple[int, str, str, Callable[[float], str]], ...] = (
        (_LABEL, "p50_ms", "median batch, ms", lambda value: f"{value:,.0f}"),
        (_LABEL + half + _GAP, "requests", "requests a batch", lambda value: f"{value:,.3g}"),
    )
    contenders = setting["contenders"]
    for row, name in enumerate(contenders):
        yield _text(0, top + _ROWS + row * _STEP + _BAR - 2, TITLES[name])
    for left, key, caption, shown in charts:
        known = {name: each[key] for name, each in contenders.items() if key in each}
        if not known:
            continue
        yield _text(left, top + _ROWS - 8, caption, css="small")
        for row, name in enumerate(contenders):
            if name in known:
                length = (half - _VALUE) * known[name] / (max(known.values()) or 1)
                y = top + _ROWS + row * _STEP
                yield _bar(left, y, length, name)
                yield _text(left + length + 6, y + _BAR - 2, shown(known[name]))


def _bar(x: float, y: float, length: float, name: str) -> str:
    css = "ours" if name.startswith("holdfast") else "floor" if name == "floor" else "other"
    size = f'width="{max(length, 1.5):.1f}" height="{_BAR}"'
    return f'<rect class="{css}" x="{x:.1f}" y="{y:.1f}" {size} rx="2"/>'


def _text(x: float, y: float, text: str, *, css: str = "") -> str:
    kind = f' class="{css}"' if css else ""
    return f'<text{kind} x="{x:.1f}" y="{y:.1f}">{escape(text)}</text>'


if __name__ == "__main__":
    sys.exit(main())
