"""The figures as the README shows them; between two marks, so that nobody writes them by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.bench.contenders import TITLES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

BEGIN, END = "<!-- bench -->", "<!-- /bench -->"
_FEW, _MANY, _FAR = "hdfs-10", "hdfs-200", "hdfs-10-far"
_HEAD = (
    "| checkpoint on | requests a batch, 10 → 200 partitions | median batch ms, 10 → 200 "
    "| restart to the first batch s, 10 → 200 | median ms with 30 ms more a request, 10 "
    "| $ a month, 10 → 200 |\n|---|---|---|---|---|---|\n"
)


def block(document: Mapping[str, Any]) -> str:
    """The marks and what is between them."""
    on, of = document["machine"], document["versions"]
    rows = "".join(_row(name, document["settings"]) for name in TITLES)
    note = (
        f"One run of `make bench`, {document['date'][:10]}: {on['cores']} cores, "
        f"Spark {of['spark']}, Java {of['java']}, Python {of['python']}, "
        f"hadoop-aws {of['hadoop-aws']}, a local MinIO; a stateful count, 5,000 rows a batch.\n"
        f"Requests by MinIO's own metrics; prices: {document['prices']}, a batch each 10 s, "
        "requests only.\n"
    )
    return f"{BEGIN}\n{_HEAD}{rows}\n{note}{END}"


def put_into(text: str, document: Mapping[str, Any]) -> str:
    """A document with the block renewed; as it was if it has no marks."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    return before + block(document) + after if begin and end else text


def _row(name: str, settings: Mapping[str, Any]) -> str:
    def pair(key: str, shown: Callable[[float], str]) -> str:
        found = [settings.get(each, {}).get("contenders", {}).get(name) for each in (_FEW, _MANY)]
        return " → ".join(shown(each[key]) if each and key in each else "" for each in found)

    far = settings.get(_FAR, {}).get("contenders", {}).get(name, {})
    cells = (
        pair("requests", lambda value: f"{value:,.3g}" if value < 1000 else f"{value:,.0f}"),
        pair("p50_ms", lambda value: f"{value:,.0f}"),
        pair("restart_s", lambda value: f"{value:.1f}"),
        f"{far['p50_ms']:,.0f}" if far else "",
        pair("usd_per_month", lambda value: f"{value:,.2f}"),
    )
    clean = (cell if cell.strip(" →") else "" for cell in cells)
    title = f"**{TITLES[name]}**" if name.startswith("holdfast") else TITLES[name]
    return f"| {title} | {' | '.join(clean)} |\n"
