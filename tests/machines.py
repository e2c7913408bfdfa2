"""Where a test's process runs: here, or on a machine that is a network namespace of its own.

Such machines reach each other over a switch, which is a namespace too, and nothing else: neither
the outer network nor this machine's own addresses.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import secrets
import shutil
import subprocess
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

T = TypeVar("T")

REQUIRED = "HOLDFAST_REQUIRE_NAMESPACES"
_NETWORK = "10.213.0."
_CLONE_NEWNET = 0x40000000
# What a machine does not have is hidden behind an empty disk, and then the command is run.
_HIDE = 'while [ "$1" != -- ]; do mount -t tmpfs none "$1"; shift; done; shift; exec "$@"'


class NoMachinesError(Exception):
    """Namespaces cannot be made here."""


@dataclass(frozen=True, kw_only=True)
class Machine:
    """One machine; `prefix` is what goes before a command to run it there."""

    address: str = "127.0.0.1"
    prefix: tuple[str, ...] = ()
    namespace: str = ""

    def inside(self, call: Callable[[], T]) -> T:
        """The call's result, made on this machine's network: its threads' sockets are there."""
        if not self.namespace:
            return call()
        done: list[T] = []
        failed: list[BaseException] = []

        def run() -> None:
            try:
                _enter(self.namespace)
                done.append(call())
            except BaseException as error:  # noqa: BLE001 - raised where it was asked for
                failed.append(error)

        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
        if failed:
            raise failed[0]
        return done[0]

    def without(self, *folders: Path) -> Machine:
        """The same machine, where these folders are empty, as on a disk of its own."""
        names = [str(folder) for folder in folders]
        hidden = ("unshare", "--mount", "/bin/sh", "-ec", _HIDE, "hide", *names, "--")
        return Machine(
            address=self.address, prefix=(*self.prefix, *hidden), namespace=self.namespace
        )

    def cut(self) -> None:
        """Pull its cable: nothing arrives any more, and nobody is told."""
        _ip("-n", self.namespace, "link", "set", "eth0", "down")

    def mend(self) -> None:
        _ip("-n", self.namespace, "link", "set", "eth0", "up")

    def bar(self, other: Machine) -> None:
        """As a firewall does: from now on this one does not reach that one."""
        _ip("-n", self.namespace, "route", "add", "unreachable", f"{other.address}/32")


HERE = Machine()


class Network:
    """Makes machines, which all go with it."""

    def __init__(self) -> None:
        self._name = f"holdfast-{os.getpid()}-{secrets.token_hex(2)}"
        self._made: list[str] = []

    def machine(self, name: str) -> Machine:
        """One more, on the switch."""
        number = len(self._made)
        namespace, port = self._namespace(name), f"port{number}"
        address, switch = f"{_NETWORK}{number}", f"{self._name}-switch"
        _ip("link", "add", "eth0", "netns", namespace, "type", "veth",
            "peer", "name", port, "netns", switch)  # fmt: skip
        _ip("-n", switch, "link", "set", port, "master", "switch", "up")
        _ip("-n", namespace, "addr", "add", f"{address}/24", "dev", "eth0")
        for each in ("eth0", "lo"):
            _ip("-n", namespace, "link", "set", each, "up")
        prefix = (_program(), "netns", "exec", namespace)
        return Machine(address=address, prefix=prefix, namespace=namespace)

    def open(self) -> None:
        _sweep()
        switch = self._namespace("switch")
        _ip("-n", switch, "link", "add", "switch", "type", "bridge")
        _ip("-n", switch, "link", "set", "switch", "up")

    def close(self) -> None:
        while self._made:
            _ip("netns", "del", self._made.pop())

    def _namespace(self, name: str) -> str:
        made = f"{self._name}-{name}"
        _ip("netns", "add", made)
        self._made.append(made)
        return made


@contextlib.contextmanager
def network() -> Iterator[Network]:
    """A switch for as long as the block lasts.

    Raises:
        NoMachinesError: this takes root and iproute2, and one of them is not here.
    """
    if os.geteuid() != 0 or _program() == "":
        raise NoMachinesError("network namespaces take root, and Debian's package `iproute2`")
    made = Network()
    try:
        made.open()
        yield made
    finally:
        made.close()


def is_required() -> bool:
    """Whether their absence is an error, as in CI, and not a reason to skip."""
    return os.environ.get(REQUIRED) == "1"


def _sweep() -> None:
    """Take away what test runs that were killed have left."""
    for path in Path("/run/netns").glob("holdfast-*"):
        if not Path(f"/proc/{path.name.split('-')[1]}").exists():
            _ip("netns", "del", path.name)


def _program() -> str:
    return shutil.which("ip", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin") or ""


def _ip(*arguments: str) -> None:
    done = subprocess.run(
        [_program(), *arguments], capture_output=True, text=True, timeout=30, check=False
    )
    if done.returncode:
        raise NoMachinesError(f"ip {' '.join(arguments)}: {done.stderr.strip()}")


def _enter(namespace: str) -> None:
    """This thread, and those that it makes, are on that machine's network from now on."""
    with Path(f"/run/netns/{namespace}").open("rb") as file:
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.setns(file.fileno(), _CLONE_NEWNET):
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), namespace)
