"""Intents and commits: what they cost, what they refuse, and what a lost reply means."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from holdfast.errors import (
    CommitUnknownError,
    FencedError,
    MisuseError,
    PermissionDeniedError,
    UnavailableError,
)
from holdfast.layout import Keys
from holdfast.manifest import CheckpointManifest, ConnectorCheckpoint, SinkCommitStatus
from holdfast.manifest.facts import Facts
from holdfast.objectstore import MemoryStore, Meter, MeteredStore
from holdfast.testing import Fault, FaultyStore, lost_reply
from tests.chain.support import QUERY, Meddling, chain, file, plan, results, retried, run, upload

if TYPE_CHECKING:
    from holdfast.chain import ChainWriter

KEYS = Keys.of_query(QUERY)


def metered_writer(inline_bytes_max: int = 64 * 1024) -> tuple[ChainWriter, Meter]:
    store = MeteredStore(MemoryStore())
    return chain(store, inline_bytes_max=inline_bytes_max).claim(), store.meter


def test_an_intent_costs_one_put() -> None:
    """And nothing else."""
    writer, meter = metered_writer()
    before = meter.usage()
    writer.intent(0, plan(0))
    used = meter.usage() - before
    assert (used.requests["put"], used.total) == (1, 1)


@pytest.mark.parametrize(("inline_bytes_max", "puts"), [(64 * 1024, 1), (1024, 2)])
def test_a_commit_of_200_small_files_costs_one_put_inline_and_two_with_a_pack(
    inline_bytes_max: int, puts: int
) -> None:
    """Whatever the number of partitions."""
    writer, meter = metered_writer(inline_bytes_max=inline_bytes_max)
    writer.intent(0, plan(0))
    before = meter.usage()
    writer.commit(0, [file(f"state/0/{p}/1.delta", f"{p:04}" * 20) for p in range(200)])
    used = meter.usage() - before
    assert (used.requests["put"], used.total) == (puts, puts)


def test_a_writer_writes_nothing_after_an_error() -> None:
    """The outcome of a failed write is open, so nothing may follow it."""
    store = MemoryStore()
    denied = Fault(error=PermissionDeniedError("no"), verb="put", key="*manifest-000002*")
    writer = chain(FaultyStore(store, [denied])).claim()
    writer.intent(0, plan(0))
    with pytest.raises(PermissionDeniedError):
        writer.commit(0, results(0))
    with pytest.raises(MisuseError, match="claim the chain again"):
        writer.commit(0, results(0))
    assert chain(store, "two").claim().head.batch == -1


def test_lost_reply_of_a_commit_is_a_commit() -> None:
    """The manifest is there with our nonce: the batch is durable, whatever the network says."""
    store = MemoryStore()
    faulty = FaultyStore(store, [lost_reply(verb="put", key="*manifest-000002*")])
    writer = chain(retried(faulty)).claim()
    assert run(writer).number == 2
    assert run(writer).number == 3


def test_commit_is_unknown_while_the_store_does_not_say() -> None:
    """No answer and no object is not a failed commit: the put may yet arrive."""
    away = Fault(error=UnavailableError("timed out"), verb="put", key="*manifest-000002*")
    writer = chain(FaultyStore(MemoryStore(), [away])).claim()
    writer.intent(0, plan(0))
    with pytest.raises(CommitUnknownError, match="manifest-000002"):
        writer.commit(0, results(0))


def test_lost_reply_of_an_intent_that_was_adopted_meanwhile_fences() -> None:
    """Time passes until a retry: a claim may have taken the plan and gone on."""
    store = MemoryStore()

    lost = lost_reply(verb="put", key="*intent-000002*")
    slow = Meddling(
        store, "intent-000002", after=lambda: chain(store, "new").claim(), faults=[lost]
    )
    writer = chain(retried(slow)).claim()
    with pytest.raises(FencedError, match="host-new"):
        writer.intent(0, plan(0))


def test_anothers_pack_under_our_number_fences() -> None:
    """Create-only packs: where another's bytes are, another has this number."""
    store = MemoryStore()
    writer = chain(store, inline_bytes_max=0).claim()
    writer.intent(0, plan(0))
    store.put(KEYS.state(2), b"another's")
    with pytest.raises(FencedError):
        writer.commit(0, results(0))
    assert store.get(KEYS.state(2)).body == b"another's"


def test_a_batch_is_committed_after_the_one_before_it() -> None:
    """A gap would be a lost batch."""
    writer = chain(MemoryStore()).claim()
    with pytest.raises(MisuseError, match="one after the other"):
        writer.commit(1, results(1))


def test_a_batch_is_planned_once() -> None:
    """A second plan under one number would fence ourselves."""
    writer = chain(MemoryStore()).claim()
    writer.intent(0, plan(0))
    with pytest.raises(MisuseError, match="has its plan"):
        writer.intent(0, plan(0))


def test_the_last_write_of_a_path_counts() -> None:
    """Retried tasks write the same name again; the last one before the commit wins."""
    store = MemoryStore()
    writer = chain(store).claim()
    writer.commit(0, [file("state/0/1.delta", "first"), file("state/0/1.delta", "second")])
    assert chain(store).read(writer.head) == {"state/0/1.delta": b"second"}


def test_directories_and_empty_files_come_back() -> None:
    """A directory's path ends with "/"; an empty file has no object."""
    store = MemoryStore()
    chain(store).claim().commit(0, [file("state/"), file("empty"), file("full", "x")])
    head = chain(store, "two").claim().head
    assert sorted(head.visible()) == ["empty", "full", "state/"]
    assert chain(store).read(head) == {"empty": b"", "full": b"x"}


def test_a_large_file_is_named_and_not_packed() -> None:
    """It is an object of its own, uploaded before the commit."""
    store = MemoryStore()
    writer = chain(store).claim()
    writer.commit(0, [upload(store, "state/0/big.zip", claim=1, body=b"large")])
    assert chain(store).read(chain(store, "two").claim().head) == {"state/0/big.zip": b"large"}


def test_full_manifests_come_every_so_often_and_carry_what_was_inline() -> None:
    """Nothing reaches behind the last full manifest, so all before it may go."""
    store = MemoryStore()
    writer = chain(store, full_every=4).claim()
    writer.commit(0, [file("metadata", "for ever")])
    fulls = [run(writer).full for _ in range(7)]
    assert fulls == [False, False, True, False, False, False, True]
    store.delete([KEYS.manifest(number) for number in range(1, 9)])
    head = chain(store, "two").recover().head
    assert chain(store).read(head, ["metadata"]) == {"metadata": b"for ever"}


def test_a_manifest_tells_the_truth_of_its_batch_in_the_seeds_fields() -> None:
    """Offsets, watermark, sinks, hash, live bytes and parent are where a reader expects them."""
    store = MemoryStore()
    writer = chain(store).claim()
    facts = Facts(
        source_offsets={"kafka": ConnectorCheckpoint.with_offsets(1, {"orders-0": "42"})},
        sink_epochs={"db": 1},
        sink_commit_statuses={"db": SinkCommitStatus.committed()},
        watermark=-5,
        source_names=("kafka",),
        sink_names=("db",),
        pipeline_hash=2**64 - 1,
    )
    writer.commit(0, [file("a", "12345")], facts=facts)
    manifest = CheckpointManifest.decode(store.get(KEYS.manifest(2)).body)
    assert Facts.of(manifest) == facts
    assert (manifest.epoch, manifest.size_bytes, manifest.parent_id) == (1, 5, 1)
    assert manifest.is_incremental
    assert manifest.validate() == []


def test_live_bytes_follow_additions_replacements_and_removals() -> None:
    """size_bytes is the sum over all live files, kept without walking over them."""
    writer = chain(MemoryStore()).claim()
    writer.commit(0, [file("a", "12345"), file("b", "123")])
    writer.commit(1, [file("a", "1")], removed=["b", "never there"])
    assert writer.head.size_bytes == 1
