"""`make demo`: a driver is killed in mid-batch, its successor goes on, and a zombie is fenced."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from rich.console import Console

from holdfast.chain import Chain
from holdfast.objectstore import ensure_certified, open_store

DRIVER = Path(__file__).with_name("driver.py")
ORDERS = 12_000
KILLED_IN_BATCH = 6

console = Console(highlight=False)


def main() -> int:
    folder = Path(tempfile.mkdtemp(prefix="holdfast-demo-"))
    try:
        return tour(folder)
    finally:
        shutil.rmtree(folder)


def tour(folder: Path) -> int:
    store = folder / "store"
    url, orders = store.as_uri(), folder / "orders.txt"
    order = random.Random(1)
    products = [f"product-{n}" for n in range(20)]
    orders.write_text("\n".join(order.choice(products) for _ in range(ORDERS)))

    title("1. A store is certified before it is trusted")
    certificate = ensure_certified(open_store(url))
    say("store", f"{certificate.verdict}: its conditional writes hold under real races")

    title(f"2. A driver counts {ORDERS:,} orders, and is killed with SIGKILL in mid-batch")
    first = start(url, orders, "driver-1", pause=0.05)
    follow(first, "driver-1", until=f"batch {KILLED_IN_BATCH} runs")
    first.kill()
    first.wait()
    say("driver-1", "[red]killed -9: it planned this batch, and did not commit it[/]")

    title("3. Its successor has an empty machine and the store; it runs the same plan again")
    second = start(url, orders, "driver-2", pause=0.3)
    follow(second, "driver-2", until=f"batch {KILLED_IN_BATCH + 1} is checkpoint")

    title("4. A third driver takes over while the second still runs")
    third = start(url, orders, "driver-3", pause=0.02)
    follow(third, "driver-3", until="claimed")
    follow(second, "driver-2")
    follow(third, "driver-3", every=4)

    title("5. Is the answer exact?")
    chain = Chain(open_store(url), "shop/orders")
    found = json.loads(chain.read(chain.recover().head, ["state/counts"])["state/counts"])
    exact = Counter(orders.read_text().split()) == Counter(found)
    fenced = second.returncode != 0
    verdict = "[green]exact" if exact else "[red]WRONG"
    say("answer", f"{verdict}[/]: {sum(found.values()):,} of {ORDERS:,} orders, each counted once")

    title("6. What an operator sees")
    for command in (
        ["ls", f"{url}/shop/orders", "--limit", "6"],
        ["validate", f"{url}/shop/orders"],
    ):
        console.print(f"\n[bold]$ holdfast {' '.join(command)}[/]".replace(url, "$STORE"))
        subprocess.run([sys.executable, "-m", "holdfast.cli", *command], check=True)
    return 0 if exact and fenced else 1


def start(url: str, orders: Path, name: str, *, pause: float) -> subprocess.Popen[str]:
    command = [sys.executable, str(DRIVER), url, str(orders), name, str(pause)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def follow(
    process: subprocess.Popen[str], name: str, *, until: str | None = None, every: int = 1
) -> None:
    """Show what a driver says, up to a line or to its end; of its commits, every so many."""
    assert process.stdout is not None
    commits = 0
    for line in process.stdout:
        commits += "is checkpoint" in line
        told = " runs" not in line or until is not None
        if told and ("is checkpoint" not in line or commits % every == 0):
            say(name, line.rstrip())
        if until is not None and until in line:
            return
    process.wait()


def title(text: str) -> None:
    console.print(f"\n[bold cyan]{text}[/]")


def say(who: str, text: str) -> None:
    console.print(f"  [dim]{who:>9}[/]  {text}")


if __name__ == "__main__":
    sys.exit(main())
