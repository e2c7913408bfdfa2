"""`make demo`: a query whose driver is killed in mid-batch, its successor, and a fenced zombie."""

from __future__ import annotations

import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from rich.console import Console

from holdfast.cli import main as holdfast_command
from tests.demo.requests import stock_requests
from tests.spark.orders import counts_by_sku, write_orders
from tests.spark.processes import Child, wait_until
from tests.spark.queries import make_tables, read_counts, read_doubled

FILES, ROWS, PARTITIONS = 14, 500, 10
KILLED_IN_BATCH, ASLEEP_IN_BATCH = 3, 6
NAME, LOCATION = "orders", "holdfast:///orders"

console = Console(highlight=False)


def main() -> int:
    folder = Path(tempfile.mkdtemp(prefix="holdfast-demo-"))
    drivers: list[Child] = []
    try:
        return Tour(folder, drivers).run()
    finally:
        for driver in drivers:
            driver.kill()
        shutil.rmtree(folder, ignore_errors=True)


class Tour:
    """Three drivers, one after the other, on one query; the store is a local directory."""

    def __init__(self, folder: Path, drivers: list[Child]) -> None:
        self.folder, self.drivers = folder, drivers
        self.store = (folder / "store").as_uri()
        self.database = str(folder / "sink.db")
        self.orders = folder / "orders"
        self.requests = self.batches = self.start_requests = 0
        self.job: dict[str, Any] = {
            "folder": str(self.orders),
            "database": self.database,
            "location": LOCATION,
        }

    def run(self) -> int:
        title(f"{FILES * ROWS:,} orders, a stateful count in PySpark, an exactly-once sink")
        console.print('  [dim]…writeStream.option("checkpointLocation", "holdfast:///orders")[/]')
        make_tables(self.database)
        write_orders(self.orders, files=FILES, rows=ROWS)
        first, second, third = self.open_drivers()
        self.kill_in_mid_batch(first)
        self.fall_asleep(second)
        self.finish(third)
        self.wake(second)
        return self.conclude()

    def open_drivers(self) -> list[Child]:
        """All at once: a JVM takes a while to start, a claim does not."""
        with console.status("  starting three Spark drivers, each on an empty spool …"):
            for number in (1, 2, 3):
                self.drivers.append(Child(self.folder / f"driver-{number}.log"))
                spool = {"spark.holdfast.spool.dir": str(self.folder / f"spool-{number}")}
                conf = {
                    **spool,
                    "spark.sql.shuffle.partitions": str(PARTITIONS),
                    "spark.app.name": f"driver-{number}",
                }
                self.drivers[-1].send("open_session", store=self.store, conf=conf)
            for driver in self.drivers:
                driver.jvm_pid = driver.answer()
        return self.drivers

    def kill_in_mid_batch(self, driver: Child) -> None:
        title("A driver runs, and is killed with SIGKILL in mid-batch")
        driver.call("start_count", **self.job, delay_s=1.0)
        self.follow(driver, "driver 1", KILLED_IN_BATCH - 1)
        number = self.wait_for_plan(driver)
        driver.kill()
        was = "had just been" if self.manifest(number).exists() else "was planned and not"
        say("driver 1", f"[red]kill -9[/]: batch {KILLED_IN_BATCH} {was} committed")

    def fall_asleep(self, driver: Child) -> None:
        title("Its successor has the store and nothing else")
        driver.call("start_count", **self.job, delay_s=1.0)
        say("driver 2", recovery_line(driver))
        self.follow(driver, "driver 2", ASLEEP_IN_BATCH - 1)
        self.wait_for_plan(driver)
        self.count(driver)
        driver.signal(signal.SIGSTOP)
        say("driver 2", f"[yellow]stops answering[/] in the middle of batch {ASLEEP_IN_BATCH}")

    def finish(self, driver: Child) -> None:
        title("A supervisor takes it for dead and starts another")
        driver.send("finish_count", **self.job)
        time.sleep(1.5)  # the sleeper holds the sink's transaction; it ends when it wakes
        self.drivers[1].signal(signal.SIGCONT)
        say("driver 2", "[yellow]wakes up[/] and goes on, as if nothing had happened")
        driver.answer()
        say("driver 3", recovery_line(driver))
        say("driver 3", f"ran to the end: batch {driver.call('status', name=NAME)['batch']}")
        self.count(driver)

    def wake(self, sleeper: Child) -> None:
        text = sleeper.call("await_exception", location=LOCATION)
        start = text.index("FencedError")
        say("driver 2", f"[red]{text[start:].split(' SQLSTATE')[0].splitlines()[0]}[/]")

    def conclude(self) -> int:
        title("The answer")
        expected = counts_by_sku(self.orders)
        exact = read_counts(self.database) == expected and not read_doubled(self.database)
        verdict = "[bold green]exact[/]" if exact else "[bold red]WRONG[/]"
        orders = sum(expected.values())
        say("sink", f"{len(expected)} counts over {orders:,} orders, each batch once: {verdict}")
        title(f"The chain: holdfast ls {self.store}/{NAME}")
        holdfast_command(["ls", f"{self.store}/{NAME}"])
        title("What it cost")
        say(
            "requests", f"{self.requests / self.batches:.1f} a batch, {self.start_requests} a start"
        )
        for line in stock_requests(PARTITIONS):
            say("", line)
        return 0 if exact else 1

    def follow(self, driver: Child, name: str, last: int) -> None:
        """Show each batch when it is committed."""
        shown = driver.call("status", name=NAME)["batch"]
        while shown < last:
            driver.call("wait_for_batch", location=LOCATION, batch=shown + 1)
            status = driver.call("status", name=NAME)
            shown = status["batch"]
            say(name, f"batch {shown} is checkpoint {status['checkpoint']}")

    def wait_for_plan(self, driver: Child) -> int:
        """Until the next intent is on the store, and its batch runs; returns its number."""
        number = driver.call("status", name=NAME)["checkpoint"] + 1
        intent = self.folder / "store" / NAME / "intents" / f"intent-{number:06}.json"
        wait_until(intent.exists, "the next plan")
        time.sleep(0.3)
        return int(number)

    def manifest(self, number: int) -> Path:
        return self.folder / "store" / NAME / "manifests" / f"manifest-{number:06}.json"

    def count(self, driver: Child) -> None:
        status = driver.call("status", name=NAME)
        self.requests += status["requests"] - status["start_requests"]
        self.batches += status["checkpoints"]
        self.start_requests = status["start_requests"]


def recovery_line(driver: Child) -> str:
    report = driver.call("status", name=NAME)["recovery"]
    milliseconds = report["elapsed_s"] * 1000
    return f"goes on from checkpoint {report['chosen']}, which was read in {milliseconds:.0f} ms"


def title(text: str) -> None:
    console.print(f"\n[bold]{text}[/]")


def say(who: str, what: str) -> None:
    console.print(f"  [cyan]{who:<9}[/] {what}")


if __name__ == "__main__":
    sys.exit(main())
