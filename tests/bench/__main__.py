"""`make bench`: one query, six kinds of checkpoint, in turns; a table of figures, and JSON.

`QUICK=1` runs a few batches of each, to see that it works; its times say nothing.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from holdfast.objectstore import open_store
from tests.bench import figures, machine, single, tables
from tests.bench.contenders import ON_S3, SETTINGS, Places, Setting
from tests.bench.ground import set_up
from tests.bench.measure import Figure
from tests.bench.rounds import Field
from tests.bench.said import Said
from tests.bench.traffic import Account
from tests.s3 import server

if TYPE_CHECKING:
    from collections.abc import Sequence

OUTPUT = Path("build/bench.json")
_ROUND_TRIPS = 20


def main(arguments: Sequence[str]) -> int:
    quick = os.environ.get("QUICK", "") not in ("", "0")
    console = Console(width=None if sys.stdout.isatty() else 140)
    settings = [
        quickened(setting) if quick else setting
        for setting in SETTINGS
        if not arguments or setting.name in arguments
    ]
    singles = [name for name in single.NAMES if not arguments or name in arguments]
    document = measure(settings, singles, console, quick=quick)
    OUTPUT.parent.mkdir(exist_ok=True)
    OUTPUT.write_text(json.dumps(document, indent=2) + "\n")
    found = [Figure(**each) for each in document["required"]]
    for setting in document["settings"].values():
        console.print(tables.setting_table(setting))
    console.print(tables.required_table(found, title_of(document)))
    console.print(f"written to {OUTPUT}; prices: {figures.PRICE}, requests only, a batch each 10 s")
    # A few batches tell how many requests there are, and nothing of times.
    decisive = [each for each in found if not quick or each.unit == figures.REQUESTS]
    return 0 if all(each.holds for each in decisive) else 1


def measure(
    settings: Sequence[Setting], singles: Sequence[str], console: Console, *, quick: bool
) -> dict[str, Any]:
    """Everything, as it is written down."""
    said = Said(console, sum(_steps(setting) for setting in settings) + len(singles))
    before = machine.load()
    with ExitStack() as stack:
        choice = server.choose(console.print)
        places = set_up(stack, choice, console)
        account = Account(places.server.endpoint)
        field = Field(stack, places, said)
        taken = {
            setting.name: figures.summary(setting, field.race(setting, account))
            for setting in settings
        }
        round_trip_ms = far_round_trip_ms(places)
        alone = {}
        for name in singles:
            alone[name] = single.run(name, places, quick=quick)
            said.step(f"{name}: {single.shown(alone[name])}")
    required = [
        *figures.required(taken, round_trip_ms),
        *figures.required_restarts(taken),
        *single.required(alone),
    ]
    return {
        "date": machine.now(),
        "quick": quick,
        "machine": machine.machine(),
        "load": {"before": before, "after": machine.load()},
        "versions": machine.versions(f"MinIO ({choice.kind})"),
        "prices": figures.PRICE,
        "far_round_trip_ms": round(round_trip_ms, 1),
        "settings": taken,
        "single": alone,
        "required": [asdict(figure) for figure in required],
    }


def far_round_trip_ms(places: Places) -> float:
    """What one small PUT takes through the proxy."""
    store, took = open_store(places.store_url(is_far=True)), []
    for number in range(_ROUND_TRIPS):
        started = time.perf_counter()
        store.put(f"plain/{number}", b"x" * 2000)
        took.append((time.perf_counter() - started) * 1000)
    return statistics.median(took)


def quickened(setting: Setting) -> Setting:
    counted = min(setting.counted, 10)
    return replace(setting, rounds=1, batches=3, warmup=2, counted=counted, counted_ours=10)


def title_of(document: dict[str, Any]) -> str:
    on, of = document["machine"], document["versions"]
    return (
        f"holdfast {of['holdfast']}, Spark {of['spark']}, {on['cores']} cores, "
        f"{on['memory_gib']} GiB, {document['date']}, load {document['load']['before']} → "
        f"{document['load']['after']}{', QUICK: times say nothing' if document['quick'] else ''}"
    )


def _steps(setting: Setting) -> int:
    counted = [each for each in setting.contenders if setting.counted and each in ON_S3]
    return len(setting.contenders) * (1 + setting.rounds) + len(counted)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
