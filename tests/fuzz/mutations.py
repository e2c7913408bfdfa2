"""Changes to bytes: what decay, cut connections, other programs and ill will can make of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Sequence

_OCTETS = (0, 1, 7, 8, 9, 10, 13, 32, 34, 44, 45, 46, 47, 91, 92, 123, 125, 127, 128, 255)
_NUMBERS = (0, -1, 1, 255, 2**31 - 1, 2**31, 2**32 - 1, 2**53, 2**63 - 1, 2**64 - 1, -(2**63))
_TEXTS = ("", " ", "\x00", "..", "/", "a/../b", "\t\n", "é\u2028", "%2F", "-1", "NaN", "9" * 400)
_DEPTH = 300


def mutate(data: bytes, dice: random.Random, others: Sequence[bytes]) -> bytes:
    """A few changes, each of a kind of its own."""
    for _ in range(dice.choice((1, 1, 1, 2, 4))):
        data = dice.choice(_KINDS)(data, dice, others)
    return data


def _flip(data: bytes, dice: random.Random, others: Sequence[bytes]) -> bytes:
    del others
    if not data:
        return bytes([dice.randrange(256)])
    at = dice.randrange(len(data))
    return data[:at] + bytes([data[at] ^ (1 << dice.randrange(8))]) + data[at + 1 :]


def _octet(data: bytes, dice: random.Random, others: Sequence[bytes]) -> bytes:
    del others
    at = dice.randrange(len(data) + 1)
    return data[:at] + bytes([dice.choice(_OCTETS)]) + data[at + dice.randrange(2) :]


def _cut(data: bytes, dice: random.Random, others: Sequence[bytes]) -> bytes:
    del others
    at = dice.randrange(len(data) + 1)
    return data[:at] if dice.randrange(2) else data[at:]


def _repeat(data: bytes, dice: random.Random, others: Sequence[bytes]) -> bytes:
    del others
    begin, end = sorted(dice.randrange(len(data) + 1) for _ in range(2))
    return data[:end] + data[begin:end] * dice.choice((1, 2, 8)) + data[end:]


def _splice(data: bytes, dice: random.Random, others: Sequence[bytes]) -> bytes:
    other = dice.choice(others)
    at, to = dice.randrange(len(data) + 1), dice.randrange(len(other) + 1)
    return data[:at] + other[to:]


def _integer(data: bytes, dice: random.Random, others: Sequence[bytes]) -> bytes:
    """An interesting number where a length or a count may be."""
    del others
    size, order = dice.choice((2, 4, 8)), dice.choice(("little", "big"))
    number = dice.choice(_NUMBERS) % (1 << (8 * size))
    at = dice.randrange(max(1, len(data) - size + 1))
    return data[:at] + number.to_bytes(size, order) + data[at + size :]  # type: ignore[arg-type]


def _json(data: bytes, dice: random.Random, others: Sequence[bytes]) -> bytes:
    """Another value somewhere inside a document."""
    del others
    try:
        document = orjson.loads(data)
    except orjson.JSONDecodeError:
        return data
    changed = _changed(document, dice)
    try:
        return orjson.dumps(changed)
    except (TypeError, orjson.JSONEncodeError):
        return data


def _changed(value: Any, dice: random.Random) -> Any:
    """The same value, but for one node."""
    if isinstance(value, dict) and value and dice.randrange(6):
        key = dice.choice(list(value))
        action = dice.randrange(8)
        rest = {name: each for name, each in value.items() if name != key}
        if action == 0:
            return rest
        if action == 1:
            return {**rest, dice.choice(_TEXTS): value[key]}
        return {name: _changed(v, dice) if name == key else v for name, v in value.items()}
    if isinstance(value, list) and value and dice.randrange(6):
        at = dice.randrange(len(value))
        if dice.randrange(4) == 0:
            return value[:at] + value[at + dice.randrange(2) :] + [value[at]] * dice.choice((0, 3))
        return [_changed(v, dice) if place == at else v for place, v in enumerate(value)]
    return _any_value(value, dice)


def _any_value(value: Any, dice: random.Random) -> Any:
    deep: list[Any] = []
    for _ in range(_DEPTH if dice.randrange(20) == 0 else 3):
        deep = [deep]
    found = dice.choice((None, True, False, 0.5, 1e308, [], {}, [value], {"": value}, deep))
    if isinstance(value, str) and dice.randrange(2):
        return dice.choice((*_TEXTS, value + "x", value[:-1], value.upper(), value * 3))
    if isinstance(value, int) and dice.randrange(2):
        near = value + dice.choice((-1, 1))
        return min(max(dice.choice((*_NUMBERS, near, -value)), -(2**63)), 2**64 - 1)
    return dice.choice((found, dice.choice(_TEXTS), dice.choice(_NUMBERS)))


_KINDS: tuple[Callable[[bytes, random.Random, Sequence[bytes]], bytes], ...] = (
    _flip,
    _octet,
    _cut,
    _repeat,
    _splice,
    _integer,
    _json,
    _json,
    _json,
)
