"""The batcher: nothing that was added is lost, and no flush overwrites another."""

from __future__ import annotations

import threading

import pytest

from holdfast.checkpoint import BatchMetricsSnapshot, CheckpointBatcher
from holdfast.errors import AlreadyExistsError, ConfigError, MisuseError, UnavailableError
from holdfast.objectstore import MemoryStore, ObjectStore, RetryingStore, scan
from holdfast.pack import decode_batch
from holdfast.testing import Fault, FaultyStore, lost_reply
from tests.checkpoint.support import KEYS, Meanwhile, contents

DOWN = UnavailableError("down")


def flushed(store: ObjectStore, epoch: int) -> list[tuple[str, bytes]]:
    """All entries of an epoch, in the order of its parts."""
    found = []
    for meta in scan(store, KEYS.batches(epoch)):
        parsed = KEYS.parse(meta.key)
        assert parsed is not None
        found.append((parsed.part, decode_batch(store.get(meta.key).body)))
    return [entry for _, entries in sorted(found) for entry in entries]


def batcher(store: ObjectStore, threshold: int | None = None) -> CheckpointBatcher:
    return CheckpointBatcher(store, "q", threshold)


def test_a_flush_writes_what_was_added(store: ObjectStore) -> None:
    """In order, duplicates included, under the epoch's key, and the buffer is empty then."""
    batch = batcher(store)
    for key, data in (("a", b"1"), ("b", b"2"), ("a", b"3")):
        batch.add(key, data)
    assert batch.flush(7) == "q/checkpoints/batch-000007.lz4"
    assert flushed(store, 7) == [("a", b"1"), ("b", b"2"), ("a", b"3")]
    assert (len(batch), batch.buffer_size(), batch.is_empty()) == (0, 0, True)


def test_flushing_nothing_does_nothing(store: ObjectStore) -> None:
    """No object, no request, no count."""
    seen = FaultyStore(store)
    batch = batcher(seen)
    assert batch.flush(1) is None
    assert seen.calls == []
    assert batch.metrics().snapshot() == BatchMetricsSnapshot()


@pytest.mark.parametrize(("size", "due"), [(99, False), (100, True), (101, True)])
def test_the_threshold_is_reached_at_its_value(
    store: ObjectStore,
    size: int,
    due: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    """Key in UTF-8, data and 8 bytes count; from the threshold on it is time."""
    batch = batcher(store, threshold=100)
    batch.add("ß", bytes(size - 8 - 2))
    assert batch.buffer_size() == size
    assert batch.should_flush() == due


def test_the_default_threshold_is_8_mib(store: ObjectStore) -> None:
    """8 MiB of body, not of data."""
    batch = batcher(store)
    batch.add("", bytes(8 * 1024 * 1024 - 8 - 1))
    assert not batch.should_flush()
    batch.add("", b"")
    assert batch.should_flush()


def test_adding_never_flushes(store: ObjectStore) -> None:
    """The caller decides when."""
    batch = batcher(store, threshold=0)
    batch.add("k", b"v")
    assert batch.should_flush()
    assert contents(store) == {}


def test_two_flushes_of_an_epoch_are_two_objects(store: ObjectStore) -> None:
    """The second is a part of its own, and the first is as it was."""
    batch = batcher(store)
    for data in (b"1", b"2", b"3"):
        batch.add("k", data)
        batch.flush(5)
    assert flushed(store, 5) == [("k", b"1"), ("k", b"2"), ("k", b"3")]


def test_two_batchers_of_an_epoch_do_not_overwrite_each_other(store: ObjectStore) -> None:
    """A restarted process, or another one, finds the next free part."""
    for data in (b"1", b"2", b"3"):
        batch = batcher(store)
        batch.add("k", data)
        batch.flush(5)
    assert flushed(store, 5) == [("k", b"1"), ("k", b"2"), ("k", b"3")]


@pytest.mark.parametrize("restart", [False, True])
def test_the_same_blob_again_is_written_again(
    store: ObjectStore,
    restart: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    """A retrying store takes equal bytes for its own success; 1, 2, 1 must not end as 1, 2."""
    retrying = RetryingStore(store)
    batch = batcher(retrying)
    for data in (b"1", b"2", b"1"):
        batch = batcher(retrying) if restart else batch
        batch.add("k", data)
        batch.flush(5)
    assert flushed(store, 5) == [("k", b"1"), ("k", b"2"), ("k", b"1")]


def test_two_batchers_at_once_take_turns(store: ObjectStore) -> None:
    """Both look, one is faster: the slower one takes the next part, and counts its puts."""
    slow, fast = batcher(store), batcher(store)
    for batch, data in ((slow, b"0"), (fast, b"1"), (slow, b"2")):
        batch.add("k", data)
        batch.flush(1)
    assert [data for _, data in flushed(store, 1)] == [b"0", b"1", b"2"]
    assert slow.metrics().snapshot().put_count == 3
    assert slow.metrics().snapshot().batches_flushed == 2


def test_the_search_for_a_free_part_is_bounded() -> None:
    """A store on which every create is refused ends in an error, with the buffer kept."""
    refusing = FaultyStore(
        MemoryStore(), [Fault(error=AlreadyExistsError("taken"), verb="put", nth=0)]
    )
    batch = batcher(refusing)
    batch.add("k", b"v")
    with pytest.raises(AlreadyExistsError, match="prefix of its own"):
        batch.flush(1)
    assert len(batch) == 1
    assert sum(verb == "put" for verb, _ in refusing.calls) == 64


def test_a_failed_put_keeps_the_buffer(store: ObjectStore) -> None:
    """Nothing is lost, nothing is counted, and the next flush writes it."""
    batch = batcher(FaultyStore(store, [Fault(error=DOWN, verb="put")]))
    batch.add("k", b"v")
    with pytest.raises(UnavailableError):
        batch.flush(1)
    assert (len(batch), batch.buffer_size()) == (1, 10)
    assert batch.metrics().snapshot() == BatchMetricsSnapshot()
    batch.flush(1)
    assert flushed(store, 1) == [("k", b"v")]


def test_a_lost_reply_does_not_double_the_batch(store: ObjectStore) -> None:
    """The retry finds its own object."""
    batch = batcher(FaultyStore(store, [lost_reply(verb="put")]))
    batch.add("k", b"v")
    with pytest.raises(UnavailableError):
        batch.flush(1)
    assert batch.flush(1) == KEYS.batch(1)
    assert flushed(store, 1) == [("k", b"v")]
    assert batch.metrics().snapshot().put_count == 1


def test_more_after_a_lost_reply_is_not_lost(store: ObjectStore) -> None:
    """The retry then writes all of it again: the last entry of a key wins, and it is there."""
    batch = batcher(FaultyStore(store, [lost_reply(verb="put")]))
    batch.add("k", b"1")
    with pytest.raises(UnavailableError):
        batch.flush(1)
    batch.add("k", b"2")
    batch.flush(1)
    assert dict(flushed(store, 1)) == {"k": b"2"}
    assert batch.is_empty()


def test_a_flush_of_another_epoch_after_a_failure_is_complete(store: ObjectStore) -> None:
    """What could not be written for one epoch is written for the next."""
    batch = batcher(FaultyStore(store, [lost_reply(verb="put")]))
    batch.add("k", b"1")
    with pytest.raises(UnavailableError):
        batch.flush(1)
    batch.flush(2)
    assert flushed(store, 2) == [("k", b"1")]


def test_the_metrics_add_up(store: ObjectStore) -> None:
    """Bodies before, whole objects after compression."""
    batch = batcher(store)
    for epoch in (1, 2):
        batch.add("key", bytes(1000))
        batch.add("k", b"")
        batch.flush(epoch)
    sizes = [store.head(KEYS.batch(epoch)).size for epoch in (1, 2)]
    assert batch.metrics().snapshot() == BatchMetricsSnapshot(
        batches_flushed=2,
        entries_flushed=4,
        bytes_before_compression=2 * (1003 + 8 + 1 + 8),
        bytes_after_compression=sum(sizes),
        put_count=2,
    )


def test_a_snapshot_is_of_one_moment() -> None:
    """Whoever reads while flushes run never sees half of one."""
    batch = batcher(MemoryStore())
    seen: list[BatchMetricsSnapshot] = []
    running = threading.Event()

    def watch() -> None:
        while not running.is_set():
            seen.append(batch.metrics().snapshot())

    watcher = threading.Thread(target=watch)
    watcher.start()
    for epoch in range(200):
        batch.add("k", b"")
        batch.flush(epoch)
    running.set()
    watcher.join()
    assert all(one.batches_flushed == one.entries_flushed == one.put_count for one in seen)


def test_threads_may_add_and_flush_as_they_like() -> None:
    """Each entry is written exactly once, whoever flushes it."""
    memory = MemoryStore()
    batch = batcher(memory)

    def work(worker: int) -> None:
        for number in range(50):
            batch.add(f"{worker}-{number}", b"")
            if number % 10 == 0:
                batch.flush(1)

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    batch.flush(1)
    keys = [key for key, _ in flushed(memory, 1)]
    assert sorted(keys) == sorted(f"{w}-{n}" for w in range(4) for n in range(50))
    assert batch.buffer_size() == 0


def test_flushes_run_one_after_the_other() -> None:
    """One that starts while another is under way finds nothing left to write."""
    store = Meanwhile()
    batch = batcher(store)
    batch.add("k", b"v")
    second = threading.Thread(target=batch.flush, args=(1,))

    def start() -> None:
        second.start()
        second.join(timeout=0.1)

    store.before["put", KEYS.batch(1)] = start
    batch.flush(1)
    second.join()
    assert flushed(store, 1) == [("k", b"v")]
    assert batch.metrics().snapshot().batches_flushed == 1


def test_what_is_added_during_a_flush_waits_for_the_next() -> None:
    """It is neither lost with the buffer nor counted into the object."""
    store = Meanwhile()
    batch = batcher(store)
    store.before["put", KEYS.batch(1)] = lambda: batch.add("late", b"")
    batch.add("early", b"")
    batch.flush(1)
    assert flushed(store, 1) == [("early", b"")]
    assert (len(batch), batch.buffer_size()) == (1, len("late") + 8)


def test_data_is_copied_when_it_is_added(store: ObjectStore) -> None:
    """A buffer that its owner reuses does not change what will be written."""
    batch = batcher(store)
    data = bytearray(b"before")
    batch.add("k", data)
    data[:] = b"after!"
    batch.flush(1)
    assert flushed(store, 1) == [("k", b"before")]


def test_a_key_that_cannot_be_written_is_refused_at_once(store: ObjectStore) -> None:
    """It would make every later flush fail."""
    batch = batcher(store)
    with pytest.raises(ConfigError, match="Unicode"):
        batch.add("\ud800", b"")
    assert batch.is_empty()


def test_a_full_buffer_says_so(store: ObjectStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it holds can always be flushed."""
    monkeypatch.setattr("holdfast.checkpoint.batcher.BODY_BYTES_MAX", 20)
    batch = batcher(store)
    batch.add("k", b"12345")
    with pytest.raises(MisuseError, match="flush"):
        batch.add("k", b"")
    batch.flush(1)
    batch.add("k", b"")
    assert len(batch) == 1


@pytest.mark.parametrize("epoch", [-1, 2**64])
def test_an_epoch_beyond_64_bits_is_refused(store: ObjectStore, epoch: int) -> None:
    """And the buffer is kept."""
    batch = batcher(store)
    batch.add("k", b"v")
    with pytest.raises(ConfigError):
        batch.flush(epoch)
    assert len(batch) == 1


def test_a_prefix_gets_its_slash(store: ObjectStore) -> None:
    """`nodes/abc` and `nodes/abc/` are the same place."""
    for prefix in ("n/a", "n/a/"):
        batch = CheckpointBatcher(store, prefix)
        batch.add("k", b"v")
        batch.flush(1)
    assert set(contents(store)) == {
        "n/a/checkpoints/batch-000001.lz4",
        "n/a/checkpoints/batch-000001.1.lz4",
    }


def test_a_negative_threshold_is_refused(store: ObjectStore) -> None:
    """0 means: always due."""
    with pytest.raises(ConfigError):
        batcher(store, threshold=-1)
