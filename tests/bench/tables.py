"""The bench's figures as tables for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table

from tests.bench.contenders import TITLES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tests.bench.measure import Figure


def setting_table(setting: Mapping[str, Any]) -> Table:
    """One setting: a line for each contender."""
    shown = Table(title=setting["title"], title_justify="left")
    shown.add_column("checkpoint on", no_wrap=True)
    for name in (
        "p50 ms", "p95 ms", "x floor", "CPU ms", "restart s", "x floor", "requests", "P/G/H/L/D",
        "KB", "$/month",
    ):  # fmt: skip
        shown.add_column(name, justify="right", no_wrap=True)
    for name, each in setting["contenders"].items():
        shown.add_row(
            TITLES[name],
            f"{each['p50_ms']:,.0f}",
            f"{each['p95_ms']:,.0f}",
            _ratio(each, "p50_of_floor"),
            f"{each['cpu_ms']:,.0f}",
            f"{each['restart_s']:.2f}",
            _ratio(each, "restart_of_floor"),
            *_traffic(each),
        )
    return shown


def required_table(figures: Iterable[Figure], title: str) -> Table:
    """What is required beside what was measured."""
    shown = Table(title=title, title_justify="left")
    shown.add_column("figure")
    shown.add_column("measured", justify="right", no_wrap=True)
    shown.add_column("required", justify="right", no_wrap=True)
    shown.add_column("", no_wrap=True)
    for figure in figures:
        verdict = "[green]PASS" if figure.holds else "[red]MISS"
        required = f"{figure.relation} {figure.required:g} {figure.unit}"
        shown.add_row(figure.name, f"{figure.measured:.3g} {figure.unit}", required, verdict)
    return shown


def _ratio(each: Mapping[str, Any], key: str) -> str:
    return f"{each[key]:.2f}" if key in each else ""


def _traffic(each: Mapping[str, Any]) -> tuple[str, str, str, str]:
    if "requests" not in each:
        return ("", "", "", "")
    verbs = "/".join(f"{count:.3g}" for count in each["requests_by_verb"].values())
    size = (each["bytes_in"] + each["bytes_out"]) / 1000
    return (
        f"{each['requests']:,.2f}",
        verbs,
        f"{size:,.0f}",
        f"{each['usd_per_month']:,.2f}",
    )
