"""`make control`: the upload of one state file is refused, once under Spark's S3A, once here.

Exits with 0 only if both outcomes were seen: Spark's abortable manager reports the batch as done
and the query can never be started again; Holdfast stops at that batch, and resumes exactly.
"""

from __future__ import annotations

import itertools
import re
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
from rich.console import Console
from rich.markup import escape

import holdfast
from tests.faults.proxy import fault_proxy
from tests.faults.rules import Act, Rule
from tests.s3 import s3a, server
from tests.s3.buckets import fresh_bucket, store_url
from tests.spark.orders import counts_by_sku, write_orders
from tests.spark.processes import Child
from tests.spark.queries import make_tables, read_counts, read_doubled

FILES, ROWS, SKUS = 8, 400, 2000
BATCH, DELTA = 3, "state/0/0/4.delta"  # batch 3 writes version 4 of the state
INTENT = "/ours/intents/intent-000005"  # the first claim is number 1, batch 0 number 2
LARGE_BYTES = 2000  # state files above this go to the store one by one
ONE = {"spark.sql.shuffle.partitions": "1"}  # so that a batch has one state file
STOCK, OURS = "s3a://{bucket}/stock", "holdfast:///ours"
console = Console(highlight=False, soft_wrap=True)


def main() -> int:
    with ExitStack() as stack:
        control = Control(stack)
        started = time.monotonic()
        seen = [control.stock(), control.holdfast()]
        console.print(f"\n{time.monotonic() - started:.0f} s after set-up")
    console.print("both outcomes were seen" if all(seen) else "[red]NOT both outcomes were seen[/]")
    return 0 if all(seen) else 1


class Control:
    """One server, a proxy that refuses one upload, and the same query under two managers."""

    def __init__(self, stack: ExitStack) -> None:
        self.jars = s3a.jars(console.print)
        choice = server.choose(console.print)
        self.folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="control-")))
        (self.folder / "s3").mkdir()
        self.server = stack.enter_context(server.run(choice, self.folder / "s3"))
        self.bucket = stack.enter_context(fresh_bucket(self.server))
        self.proxy = stack.enter_context(fault_proxy(self.server.endpoint))
        self.url = store_url(self.server, self.bucket, "store", endpoint_url=self.proxy.endpoint)
        self.orders = self.folder / "orders"
        self.fresh = itertools.count(FILES)
        write_orders(self.orders, files=FILES, rows=ROWS, skus=SKUS)
        console.print(
            f"A stateful count over {FILES} files, one a batch, on a real S3 server.\n"
            f"The upload of the one state file of batch {BATCH} is answered with 403."
        )

    def stock(self) -> bool:
        """Whether the batch was reported as done, and nothing can be started from it."""
        title("Spark's abortable manager on S3A")
        rule = Rule(act=Act.REFUSE, verb="put", key=f"stock/{DELTA}$", nth=0)
        self.proxy.script.set(rule)
        first = self.run(STOCK)
        told(first, rule)
        keys = self.keys("stock/")
        is_done, is_lost = f"stock/commits/{BATCH}" in keys, f"stock/{DELTA}" not in keys
        say(f"in the bucket, commits/{BATCH} {'is' if is_done else 'is not'} there")
        say(f"in the bucket, {DELTA} {'is not' if is_lost else 'is'} there")
        again = self.restart(STOCK)
        can_not = DELTA.rpartition("/")[2] in again["error"]
        is_reported = not first["error"] and BATCH in first["batches"]
        return rule.fired > 0 and is_reported and is_done and is_lost and can_not

    def holdfast(self) -> bool:
        """Whether the query stopped at the batch, and went on from there to the exact answer."""
        title("Holdfast")
        files = "/ours/checkpoints/files/"
        rule = After(act=Act.REFUSE, verb="put", key=files, nth=0, after=INTENT)
        self.proxy.script.set(rule)
        first = self.run(OURS)
        told(first, rule)
        chain = holdfast.Chain(holdfast.open_store(self.url), "ours")
        head = chain.recover().head.batch
        say(f"in the bucket, the last checkpoint is of batch {head}")
        again = self.restart(OURS)
        database = self.database(OURS)
        is_exact = read_counts(database) == counts_by_sku(self.orders) and not read_doubled(
            database
        )
        say("the counts are those of the batch computation" if is_exact else "[red]NOT exact[/]")
        has_stopped = BATCH not in first["batches"] and "PermissionDenied" in first["error"]
        return has_stopped and head == BATCH - 1 and not again["error"] and is_exact

    def restart(self, location: str) -> dict[str, Any]:
        """In another process, with nothing refused."""
        self.proxy.script.set()
        write_orders(self.orders, files=1, rows=ROWS, skus=SKUS, first=next(self.fresh))
        say("restarted in a new process, with one more file, nothing is refused any more:")
        found = self.run(location)
        say(outcome(found))
        return found

    def run(self, location: str) -> dict[str, Any]:
        """Everything that is there, in a driver of its own."""
        database = self.database(location)
        make_tables(database)
        with Child(self.folder / "driver.log") as driver, console.status("  a driver runs …"):
            if location == OURS:
                conf = {**ONE, "spark.holdfast.largeFileBytes": str(LARGE_BYTES)}
                driver.start(self.url, **conf)
            else:
                s3 = s3a.session_conf(self.jars, self.server, endpoint=self.proxy.endpoint)
                conf = {**ONE, **s3, s3a.MANAGER: s3a.ABORTABLE}
                driver.jvm_pid = driver.call("tests.bench.worker:open_session", conf=conf)
            where = location.format(bucket=self.bucket)
            call = "tests.control.tasks:run_to_end"
            found: dict[str, Any] = driver.call(
                call, folder=str(self.orders), database=database, location=where
            )
        return found

    def database(self, location: str) -> str:
        return str(self.folder / ("ours.db" if location == OURS else "stock.db"))

    def keys(self, prefix: str) -> set[str]:
        client = boto3.client(
            "s3",
            endpoint_url=self.server.endpoint,
            aws_access_key_id=self.server.access_key,
            aws_secret_access_key=self.server.secret_key,
            region_name="us-east-1",
        )
        pages = client.get_paginator("list_objects_v2").paginate(Bucket=self.bucket, Prefix=prefix)
        return {each["Key"] for page in pages for each in page.get("Contents", [])}


@dataclass(kw_only=True)
class After(Rule):
    """A rule that waits for another request."""

    after: str
    is_armed: bool = False

    def matches(self, verb: str, key: str) -> bool:
        self.is_armed = self.is_armed or bool(re.search(self.after, key))
        return self.is_armed and super().matches(verb, key)


def told(found: dict[str, Any], rule: Rule) -> None:
    say(f"the upload was tried and refused {'once' if rule.fired == 1 else f'{rule.fired} times'}")
    say(outcome(found))


def outcome(found: dict[str, Any]) -> str:
    done = found["batches"]
    text = f"Spark reports batches {done[0]} to {done[-1]} as done" if done else "no batch is done"
    if not found["error"]:
        return f"{text}, and no error"
    return f"{text}, then [red]{escape(short(found['error']))}[/]"


def short(text: str) -> str:
    """What says it, of a long text: our error by its name, or Spark's by its class."""
    found = re.search(r"(PermissionDeniedError: |\[CANNOT_LOAD).*", text)
    return (found[0] if found else text.strip().partition("\n")[0])[:200]


def title(text: str) -> None:
    console.print(f"\n[bold]{text}[/]")


def say(text: str) -> None:
    console.print(f"  {text}")


if __name__ == "__main__":
    sys.exit(main())
