"""UUIDv7 ids: the bits of RFC 9562, and an order that nothing disturbs."""

from __future__ import annotations

import threading
import uuid

import pytest

from holdfast.errors import ConfigError
from holdfast.ids import CheckpointId, UuidV7Generator, Writer, random_nonce
from holdfast.testing import ManualClock

NOW_MS = 1_645_557_742_000  # the moment of RFC 9562's own example, appendix A.6


def all_ones(bits: int) -> int:
    return (1 << bits) - 1


class BackwardClock(ManualClock):
    """Each look at it is a millisecond earlier."""

    def now_ms(self) -> int:
        self.sleep(-0.001)
        return super().now_ms()


def test_the_bits_are_those_of_the_rfc() -> None:
    """48 bits of milliseconds, version 7, 12 random bits, variant 10, 62 random bits."""
    random = 0x4C3 << 61 | 0x18C4DC0C0C07398F >> 1  # 73 bits; the generator leaves the top one free
    made = UuidV7Generator(clock=ManualClock(now_ms=NOW_MS), randbits=lambda _: random).next()
    assert made.int >> 80 == NOW_MS
    assert made.version == 7
    assert made.variant == uuid.RFC_4122
    assert (made.int >> 64 & 0xFFF) << 62 | made.int & (1 << 62) - 1 == random


def test_the_rfcs_own_example_is_read() -> None:
    """An id that others made is taken as it is."""
    example = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f"
    assert CheckpointId.parse(example).to_string_id() == example
    assert CheckpointId.parse(example).as_uuid().int >> 80 == NOW_MS


def test_ids_of_one_millisecond_are_in_order() -> None:
    """While the clock stands still, each id is greater than the one before."""
    generator = UuidV7Generator(clock=ManualClock())
    made = [generator.next() for _ in range(2000)]
    assert made == sorted(set(made))
    assert [str(one) for one in made] == sorted(map(str, made))


def test_a_clock_that_goes_back_does_not_take_ids_back() -> None:
    """Order of creation is order of ids, whatever the clock does."""
    generator = UuidV7Generator(clock=BackwardClock())
    made = [generator.next() for _ in range(100)]
    assert made == sorted(set(made))


def test_a_counter_that_is_full_goes_on_in_the_next_millisecond() -> None:
    """Even the highest random bits leave room for more ids, with version and variant intact."""
    generator = UuidV7Generator(clock=ManualClock(), randbits=all_ones)
    generator._random = all_ones(74) - 1
    generator._millisecond = NOW_MS * 2
    made = [generator.next() for _ in range(3)]
    assert made == sorted(set(made))
    assert made[0].int >> 80 == NOW_MS * 2 + 1
    assert {(one.version, one.variant) for one in made} == {(7, uuid.RFC_4122)}


def test_threads_never_draw_the_same() -> None:
    """Ids of many threads are distinct, and in order within each."""
    generator = UuidV7Generator(clock=ManualClock(), randbits=lambda _: 0)
    drawn: list[list[uuid.UUID]] = [[] for _ in range(4)]

    def draw(into: list[uuid.UUID]) -> None:
        into.extend(generator.next() for _ in range(500))

    threads = [threading.Thread(target=draw, args=(into,)) for into in drawn]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({one for into in drawn for one in into}) == 2000
    assert all(into == sorted(into) for into in drawn)


def test_a_thread_never_draws_in_the_middle_of_another() -> None:
    """The second one waits, and draws a greater id."""
    drawn: list[uuid.UUID] = []
    second = threading.Thread(target=lambda: drawn.append(generator.next()))

    def randbits(bits: int) -> int:
        if bits == 16 and second.ident is None:
            second.start()
            second.join(timeout=0.1)
        return 0

    generator = UuidV7Generator(clock=ManualClock(), randbits=randbits)
    made = [generator.next(), generator.next()]
    second.join()
    assert [*made, *drawn] == sorted({*made, *drawn})


def test_a_forked_child_goes_on_elsewhere() -> None:
    """The child makes ids of its own while the clock stands still, and a held lock is no matter."""
    clock = ManualClock()
    parent, child = (UuidV7Generator(clock=clock, randbits=lambda _: 5) for _ in range(2))
    parent.next()
    last = child.next()
    child._lock.acquire()
    child.after_fork()
    assert child.next() > last
    assert child.next() not in [parent.next() for _ in range(10)]


def test_now_gives_greater_ids_each_time() -> None:
    """What the process makes is in order, as ids, as text and as UUIDs."""
    first, second = CheckpointId.now(), CheckpointId.now()
    assert first < second
    assert first.to_string_id() < second.to_string_id()
    assert str(second) == second.to_string_id()
    assert CheckpointId.from_uuid(first.as_uuid()) == first


@pytest.mark.parametrize(
    "text",
    ["", "x", "017F22E2-79B0-7CC3-98C4-DC0C0C07398F", "{017f22e2-79b0-7cc3-98c4-dc0c0c07398f}"],
)
def test_another_spelling_is_refused(text: str) -> None:
    """One id has one text."""
    with pytest.raises(ConfigError):
        CheckpointId.parse(text)


def test_an_id_compares_with_ids_only() -> None:
    """Comparing with text is a mistake, and says so."""
    with pytest.raises(TypeError):
        _ = CheckpointId.now() < "text"


def test_nonces_differ() -> None:
    """A nonce is 128 bits as 32 digits, and no two are the same."""
    assert len({random_nonce() for _ in range(100)}) == 100
    assert len(random_nonce()) == 32


def test_a_writer_says_where_to_find_it() -> None:
    """Host, process and application are in the text that another operator reads."""
    writer = Writer(host="node7", application="orders", pid=42, user="etl")
    assert str(writer) == "etl@node7 pid 42 (orders)"
    assert Writer.here("x").pid > 0
