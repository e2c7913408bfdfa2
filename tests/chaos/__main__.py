"""`make chaos`: drivers, executors and MinIO are killed, paused and lied to, from a printed seed.

At the end every order was counted once and is in the sink once, and every retained checkpoint is
whole.
"""

from __future__ import annotations

import argparse
import itertools
import random
import shutil
import signal
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from tests.chaos.events import happen
from tests.chaos.minio import Minio
from tests.chaos.verdict import committed, judge, summary
from tests.chaos.world import PROVIDERS, World
from tests.cluster.standalone import Cluster
from tests.faults.proxy import fault_proxy
from tests.postgres import server as postgres
from tests.s3 import server
from tests.s3.buckets import fresh_bucket, store_url
from tests.spark.databases import rows
from tests.spark.queries import make_tables

_READ_TIMEOUT_S = 3
_FIRST_BATCH_SECONDS_MAX = 180
_FINISH_SECONDS_MAX = 600
_TELL_SECONDS = 60
_REST_SECONDS_MAX = 20
_STARTED = time.monotonic()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--seed", type=int, default=None, help="repeats the events of a run")
    arguments = parser.parse_args()
    seed = random.randrange(1 << 32) if arguments.seed is None else arguments.seed
    folder = Path(tempfile.mkdtemp(prefix="holdfast-chaos-"))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # nothing that was started stays
    is_right = False
    try:
        is_right = run(folder, arguments.minutes, seed)
    finally:
        if is_right:
            shutil.rmtree(folder)
        else:
            say(f"what was left, with the drivers' logs: {folder}; again: SEED={seed}")
    return 0 if is_right else 1


def say(line: str) -> None:
    passed = int(time.monotonic() - _STARTED)
    print(f"[{passed // 60:3}:{passed % 60:02}] {line}", flush=True)


def run(folder: Path, minutes: float, seed: int) -> bool:
    """Set up, let it happen, heal, and judge."""
    provider = random.Random(seed).choice(list(PROVIDERS))
    say(f"seed {seed}, {minutes:g} minutes, state in {provider}")
    with ExitStack() as stack:
        world, store = set_up(stack, folder, provider)
        wait_for_first_batches(world, seed)
        spend(world, 60 * minutes, seed)
        say("all is healed; one more driver takes what is left")
        world.heal()
        world.finish(_FINISH_SECONDS_MAX)
        verdict = judge(world, store)
        print(summary(world, verdict, minutes, seed), flush=True)
    return not verdict.problems


def set_up(stack: ExitStack, folder: Path, provider: str) -> tuple[World, str]:
    """The world, and the URL of its store without the proxy."""
    database = stack.enter_context(postgres.running(postgres.programs(say)))
    make_tables(database)
    minio = stack.enter_context(Minio(server.choose(say), folder / "minio"))
    bucket = stack.enter_context(fresh_bucket(minio.server))
    proxy = stack.enter_context(fault_proxy(minio.server.endpoint))
    cluster = stack.enter_context(Cluster(folder / "cluster", cores=2))
    options = {"endpoint_url": proxy.endpoint, "read_timeout_s": str(_READ_TIMEOUT_S)}
    world = World(
        folder,
        store=store_url(minio.server, bucket, "chaos", **options),
        database=database,
        cluster=cluster,
        minio=minio,
        proxy=proxy,
        provider=provider,
        say=say,
    )
    stack.callback(world.heal)
    return world, store_url(minio.server, bucket, "chaos")


def wait_for_first_batches(world: World, seed: int) -> None:
    """The calm before: the store is certified, and both queries run."""
    dice, end = random.Random(seed), time.monotonic() + _FIRST_BATCH_SECONDS_MAX
    there = "SELECT COUNT(*) FROM pg_tables WHERE tablename = 'holdfast_ledger'"
    while not rows(world.database, there)[0][0] or committed(world.database) < 4:
        if time.monotonic() > end:
            raise TimeoutError("the queries do not begin")
        world.tick(dice)
        time.sleep(0.1)


def spend(world: World, seconds: float, seed: int) -> None:
    """Event after event; each has dice of its own, so that a seed repeats them."""
    end, told = time.monotonic() + seconds, time.monotonic()
    for number in itertools.count():
        dice = random.Random(f"{seed} {number}")
        happen(world, dice)
        if not rest(world, dice, end):
            return
        if time.monotonic() - told > _TELL_SECONDS:
            told = time.monotonic()
            say(
                f"== {sum(world.happened.values())} events, {committed(world.database)} batches, "
                f"{world.starts} drivers, {world.stops['FencedError']} fencings"
            )


def rest(world: World, dice: random.Random, end: float) -> bool:
    """Some seconds, and longer where no batch got done: a slow machine has its chaos slower."""
    before, due = committed(world.database), time.monotonic() + dice.uniform(0.5, 6)
    while time.monotonic() < due or (
        time.monotonic() < due + _REST_SECONDS_MAX and committed(world.database) == before
    ):
        if time.monotonic() > end:
            return False
        world.tick(dice)
        time.sleep(0.1)
    return True


if __name__ == "__main__":
    sys.exit(main())
