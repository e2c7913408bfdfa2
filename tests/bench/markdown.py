"""The figures as the README shows them; between two marks, so that nobody writes them by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.bench.contenders import ABORTABLE, FLOOR, S3, TITLES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

BEGIN, END = "<!-- bench -->", "<!-- /bench -->"
_FEW, _MANY, _FAR, _CLUSTER = "hdfs-10", "hdfs-200", "hdfs-10-far", "cluster-200"
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
    more = "".join((*_cluster(document["settings"]), *_large_state(document.get("single", {}))))
    return f"{BEGIN}\n{_HEAD}{rows}\n{more}{note}{END}"


def put_into(text: str, document: Mapping[str, Any]) -> str:
    """A document with the block renewed; as it was if it has no marks."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    return before + block(document) + after if begin and end else text


def _cluster(settings: Mapping[str, Any]) -> Iterator[str]:
    """Executors in processes of their own."""
    if _CLUSTER not in settings:
        return
    found = settings[_CLUSTER]["contenders"]
    ours, theirs, floor = (found[name] for name in (S3, ABORTABLE, FLOOR))
    yield (
        "With two executors in processes of their own and 200 partitions, a batch takes "
        f"{ours['p50_ms']:,.0f} ms on MinIO, {theirs['p50_ms']:,.0f} with S3A's abortable manager "
        f"and {floor['p50_ms']:,.0f} in memory that they share; a restart "
        f"{ours['restart_s']:.1f}, {theirs['restart_s']:.1f} and {floor['restart_s']:.1f} s.\n"
    )


def _large_state(single: Mapping[str, Any]) -> Iterator[str]:
    found = single.get("large-state", {})
    if "save_of_s3a" in found:
        yield (
            "State in files as RocksDB cuts them, 1 GiB, goes up from these executors at "
            f"{found['save_of_s3a']:.2f} x the rate of S3A, and comes back at "
            f"{found['load_of_s3a']:.2f} x.\n"
        )


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
