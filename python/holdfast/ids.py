"""Identities: UUIDv7 checkpoint ids, nonces, and who a writer is."""

from __future__ import annotations

import getpass
import os
import secrets
import socket
import threading
import uuid
from dataclasses import dataclass
from functools import total_ordering
from typing import TYPE_CHECKING, Protocol

from holdfast.clock import SYSTEM_CLOCK, Clock
from holdfast.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable

_RANDOM_BITS = 74
_VERSION = 0x7
_VARIANT = 0b10


class Nonces(Protocol):
    """Where fresh names come from; a test's source is a counter."""

    def __call__(self) -> str:
        """A string that no one else will ever draw."""


def random_nonce() -> str:
    """128 random bits as hexadecimal digits."""
    return secrets.token_hex(16)


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """Who writes: enough for another operator to find the process."""

    host: str
    application: str
    pid: int
    user: str = ""

    @staticmethod
    def here(application: str = "holdfast") -> Writer:
        """This process."""
        try:
            user = getpass.getuser()
        except (KeyError, OSError):  # a container's user id need not have a name
            user = str(os.getuid())
        return Writer(
            host=socket.gethostname(), application=application, pid=os.getpid(), user=user
        )

    def __str__(self) -> str:
        return f"{self.user}@{self.host} pid {self.pid} ({self.application})"


@total_ordering
@dataclass(frozen=True, slots=True)
class CheckpointId:
    """A UUIDv7: sorts by time of creation, and within a millisecond by order of creation."""

    value: uuid.UUID

    @classmethod
    def now(cls) -> CheckpointId:
        """A new id, greater than every one this process made before."""
        return cls(_GENERATOR.next())

    @classmethod
    def from_uuid(cls, value: uuid.UUID) -> CheckpointId:
        return cls(value)

    @classmethod
    def parse(cls, text: str) -> CheckpointId:
        """The id whose `to_string_id` is this text, exactly.

        Raises:
            ConfigError: not a lowercase hyphenated UUID.
        """
        try:
            parsed = uuid.UUID(text)
        except ValueError:
            parsed = None
        if parsed is None or str(parsed) != text:
            raise ConfigError("not a checkpoint id", text=text[:80])
        return cls(parsed)

    def as_uuid(self) -> uuid.UUID:
        return self.value

    def to_string_id(self) -> str:
        """36 lowercase characters, in the order of the ids themselves."""
        return str(self.value)

    def __str__(self) -> str:
        return str(self.value)

    def __lt__(self, other: object) -> bool:
        return self.value < other.value if isinstance(other, CheckpointId) else NotImplemented


class UuidV7Generator:
    """RFC 9562 version 7, with the random part counted up while the millisecond stands still.

    A clock that goes back does not take the ids back: the last millisecond is used again.
    A forked child goes on one millisecond later, so that it and its parent never count up from
    the same number.
    """

    def __init__(
        self,
        *,
        clock: Clock = SYSTEM_CLOCK,
        randbits: Callable[[int], int] = secrets.randbits,
    ) -> None:
        self._clock = clock
        self._randbits = randbits
        self._lock = threading.Lock()
        self._millisecond = -1
        self._random = 0

    def after_fork(self) -> None:
        """In the child: another thread of the parent may have held the lock for ever."""
        self._lock = threading.Lock()
        self._random = 1 << _RANDOM_BITS

    def next(self) -> uuid.UUID:
        with self._lock:
            now = self._clock.now_ms()
            if now > self._millisecond:
                self._millisecond = now
                # The top bit stays free, so that counting up cannot overflow into the next field.
                self._random = self._randbits(_RANDOM_BITS - 1)
            else:
                self._random += 1 + self._randbits(16)
                if self._random >= 1 << _RANDOM_BITS:
                    self._millisecond += 1
                    self._random = self._randbits(_RANDOM_BITS - 1)
            return _compose(self._millisecond, self._random)


def _compose(millisecond: int, random: int) -> uuid.UUID:
    high, low = random >> 62, random & ((1 << 62) - 1)
    value = (
        (millisecond & ((1 << 48) - 1)) << 80 | _VERSION << 76 | high << 64 | _VARIANT << 62 | low
    )
    return uuid.UUID(int=value)


_GENERATOR = UuidV7Generator()
os.register_at_fork(after_in_child=_GENERATOR.after_fork)
