"""`make bench-core`: prints a table of what was measured beside what is required, and writes JSON.

Each group runs in a process of its own: what a call costs depends on what a heap went through.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from holdfast.version import VERSION
from tests.bench import chain, packs
from tests.bench.measure import Figure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

OUTPUT = Path("build/bench-core.json")
GROUPS: dict[str, Callable[[], Iterator[Figure]]] = {
    "recovery": chain.recovery,
    "commits": chain.commits,
    "manifests": chain.manifests,
    **{kind: partial(packs.figures, kind) for kind in packs.KINDS},
}


def main(arguments: list[str]) -> int:
    if arguments:
        print(json.dumps([asdict(figure) for figure in GROUPS[arguments[0]]()]))
        return 0
    console = Console()
    found: list[Figure] = []
    with console.status("measuring") as status:
        for group in GROUPS:
            status.update(f"measuring {group}")
            found += in_own_process(group)
    console.print(table(found))
    OUTPUT.parent.mkdir(exist_ok=True)
    document = {"version": VERSION, "machine": machine(), "figures": [asdict(f) for f in found]}
    OUTPUT.write_text(json.dumps(document, indent=2) + "\n")
    console.print(f"written to {OUTPUT}")
    return 0 if all(figure.holds for figure in found) else 1


def in_own_process(group: str) -> list[Figure]:
    command = [sys.executable, "-m", "tests.bench.core", group]
    run = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return [Figure(**figure) for figure in json.loads(run.stdout)]


def table(found: list[Figure]) -> Table:
    shown = Table(title=f"holdfast {VERSION}, core, on {machine()}")
    shown.add_column("figure")
    shown.add_column("measured", justify="right")
    shown.add_column("required", justify="right")
    shown.add_column("")
    for figure in found:
        verdict = "[green]holds" if figure.holds else "[red]missed"
        required = f"{figure.relation} {figure.required:g} {figure.unit}"
        shown.add_row(figure.name, f"{figure.measured:.3g} {figure.unit}", required, verdict)
    return shown


def machine() -> str:
    return f"{os.cpu_count()} cores, Python {platform.python_version()}, {platform.system()}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
