"""What can happen: each event takes a world and dice, does one thing to it, and says which."""

from __future__ import annotations

import contextlib
import os
import signal
from typing import TYPE_CHECKING

from tests.chaos.driver import State
from tests.faults.rules import Act, Rule

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from tests.chaos.world import World

_VERBS = (".*", ".*", "put", "get", "list", "delete")
_KEYS = (".*", ".*", "manifests/manifest", "intents/", "checkpoints/files/", "checkpoints/state-")


def kill_driver(world: World, dice: random.Random) -> str:
    who, place = dice.choice(["python", "jvm", "both"]), dice.randrange(2)
    driver = world.drivers[place]
    if driver is None or driver.state is State.STARTING:
        return ""
    driver.strike(who)
    world.drop(place, after_s=dice.uniform(0, 6))
    return f"kill -9 of {'Python and JVM' if who == 'both' else who} of pid {driver.pid}"


def pause_driver(world: World, dice: random.Random) -> str:
    """Half of the time a second one is started meanwhile."""
    place, seconds, with_second = dice.randrange(2), dice.uniform(1, 20), dice.randrange(2)
    driver = world.drivers[place]
    if driver is None or driver.is_paused or driver.state is State.STARTING:
        return ""
    driver.pause()
    world.later(seconds, driver.resume)
    if with_second and world.drivers[1 - place] is None:
        world.start(1 - place, dice)
    return f"SIGSTOP of driver pid {driver.pid}, for {seconds:.0f} s"


def second_driver(world: World, dice: random.Random) -> str:
    if world.drivers[1] is not None:
        return ""
    world.start(1, dice)
    return "a second driver on the same queries"


def stop_queries(world: World, dice: random.Random) -> str:
    driver = world.drivers[dice.randrange(2)]
    if driver is None or driver.state is not State.RUNNING:
        return ""
    driver.stop_queries()
    return f"stop and start again in pid {driver.pid}"


def kill_executor(world: World, dice: random.Random) -> str:
    pid = _executor(world, dice)
    _signal(pid, signal.SIGKILL)
    return f"kill -9 of executor pid {pid}" if pid else ""


def pause_executor(world: World, dice: random.Random) -> str:
    pid, seconds = _executor(world, dice), dice.uniform(1, 10)
    if not pid:
        return ""
    _signal(pid, signal.SIGSTOP)
    world.later(seconds, lambda: _signal(pid, signal.SIGCONT))
    return f"SIGSTOP of executor pid {pid}, for {seconds:.0f} s"


def lose_machine(world: World, dice: random.Random) -> str:
    """Its executors, its worker and its disk; another one comes."""
    lost = world.machines.pop(dice.randrange(len(world.machines)))
    lost.kill()
    world.machines.append(world.cluster.add_worker())
    return "a worker is lost with its disk, another one comes"


def kill_minio(world: World, dice: random.Random) -> str:
    seconds = dice.uniform(0, 6)
    world.minio.kill()
    world.later(seconds, world.minio.start)
    return f"kill -9 of MinIO, back after {seconds:.0f} s"


def pause_minio(world: World, dice: random.Random) -> str:
    seconds, guard = dice.uniform(0.5, 8), world.minio
    guard.signal(signal.SIGSTOP)
    world.later(seconds, lambda: guard.signal(signal.SIGCONT))
    return f"SIGSTOP of MinIO, for {seconds:.0f} s"


def fault(world: World, dice: random.Random) -> str:
    """A rule of the fault matrix: some requests in a row, or all for some seconds."""
    rule = Rule(
        act=dice.choice(list(Act)),
        verb=dice.choice(_VERBS),
        key=dice.choice(_KEYS),
        nth=dice.choice([0, 1, 1]),
        count=dice.choice([1, 1, 2, 5]),
        seconds=dice.uniform(0.5, 5),
    )
    seconds = dice.uniform(1, 8)
    world.proxy.script.add(rule)
    world.later(seconds, lambda: world.proxy.script.remove(rule))
    many = "all" if rule.nth == 0 else str(rule.count)
    return f"proxy: {rule.act.value} for {many} of {rule.verb} {rule.key}, {seconds:.0f} s"


EVENTS: dict[str, tuple[int, Callable[[World, random.Random], str]]] = {
    "driver killed": (6, kill_driver),
    "driver paused": (5, pause_driver),
    "second driver": (4, second_driver),
    "queries stopped": (2, stop_queries),
    "executor killed": (5, kill_executor),
    "executor paused": (3, pause_executor),
    "machine lost": (1, lose_machine),
    "MinIO killed": (3, kill_minio),
    "MinIO paused": (2, pause_minio),
    "proxy fault": (12, fault),
}


def happen(world: World, dice: random.Random) -> None:
    """One event of a kind that dice choose; some have nothing to do, and then nothing happens."""
    weights = [weight for weight, _ in EVENTS.values()]
    kind = dice.choices(list(EVENTS), weights)[0]
    said = EVENTS[kind][1](world, dice)
    if said:
        world.happened[kind] += 1
        world.say(said)


def _executor(world: World, dice: random.Random) -> int:
    """Any executor of any driver; 0 if there is none."""
    pids = [pid for machine in world.machines for pid in machine.executors()]
    return dice.choice(pids) if pids else 0


def _signal(pid: int, number: int) -> None:
    if pid:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
