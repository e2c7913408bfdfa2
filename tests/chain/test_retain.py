"""Retention deletes what nothing reaches, and nothing else; numbers of claims stay taken."""

from __future__ import annotations

import pytest

from holdfast.errors import CorruptionError, FencedError
from holdfast.layout import Keys
from holdfast.manifest.record import Kind
from holdfast.objectstore import MemoryStore, Meter, MeteredStore
from tests.chain.support import QUERY, chain, damage, file, keys_of, plan, results, run, upload

KEYS = Keys.of_query(QUERY)


def numbers(store: MemoryStore) -> list[int]:
    return [checkpoint.number for checkpoint in chain(store).history()]


def test_the_newest_valid_ones_stay_with_all_that_they_reach() -> None:
    """Each retained checkpoint still validates, down to the hash of every object."""
    store = MemoryStore()
    writer = chain(store, inline_bytes_max=0).claim()
    run(writer, 30)
    report = writer.retain()
    kept = numbers(store)
    assert kept == list(range(report.kept_from, 32))
    assert all(chain(store).validate(number).valid for number in kept)


def test_objects_are_bounded_however_many_batches_ran() -> None:
    """What the store holds after 40 batches is what it holds after 400."""
    store = MemoryStore()
    writer = chain(store, inline_bytes_max=0, full_every=4).claim()
    counts = []
    for _ in range(10):
        run(writer, 40)
        writer.retain()
        counts.append(len(keys_of(store)))
    assert len(set(counts)) == 1


def test_a_claims_number_is_never_freed() -> None:
    """A driver asleep since then still finds it taken, by a tombstone that names the claimer."""
    store = MemoryStore()
    sleeper = chain(store, "sleeper").claim()
    run(sleeper, 1)
    waking = chain(store, "new").claim()
    run(waking, 20)
    waking.retain()
    with pytest.raises(FencedError, match="host-new"):
        run(sleeper)


def test_a_tombstone_is_no_checkpoint_for_the_seeds_readers() -> None:
    """Epoch 0 makes them skip it."""
    store = MemoryStore()
    writer = chain(store).claim()
    run(writer, 20)
    assert writer.retain().tombstones == (1,)
    assert b'"epoch":0' in store.get(KEYS.manifest(1)).body


def test_corrupt_checkpoints_do_not_count_as_kept() -> None:
    """Otherwise the last good one is deleted."""
    store = MemoryStore()
    run(chain(store, full_every=1).claim(), 10)
    for number in (9, 10, 11):
        damage(store, KEYS.manifest(number))
    report = chain(store).retain(3)
    assert report.kept_from == 6
    assert chain(store).recover().report.chosen == 8


def test_the_plan_of_the_running_batch_stays() -> None:
    """Its intent is above the oldest kept manifest."""
    store = MemoryStore()
    writer = chain(store).claim()
    run(writer, 20)
    writer.intent(20, plan(20, "running"))
    writer.retain()
    assert chain(store).read(chain(store, "new").claim().head)["offsets/20"] == b"running"


def test_a_pack_in_flight_stays() -> None:
    """No manifest of its number or above exists yet."""
    store = MemoryStore()
    run(chain(store).claim(), 20)
    store.put(KEYS.state(22), b"in flight")
    chain(store).retain(3)
    assert store.get(KEYS.state(22)).body == b"in flight"


def test_a_pack_of_a_fenced_writer_goes() -> None:
    """Its number has a manifest that does not name it."""
    store = MemoryStore()
    run(chain(store).claim(), 20)
    store.put(KEYS.state(15), b"left behind")
    report = chain(store).retain(3)
    assert report.objects == (KEYS.state(15),)
    assert KEYS.state(15) not in keys_of(store)


def test_a_large_file_in_flight_stays_until_a_newer_claim() -> None:
    """Its own claim is the newest: an executor may be about to have it committed."""
    store = MemoryStore()
    writer = chain(store).claim()
    run(writer, 20)
    store.put(KEYS.file(1, "upload"), b"x")
    writer.retain()
    assert KEYS.file(1, "upload") in keys_of(store)
    run(chain(store, "new").claim(), 20)
    chain(store).retain(3)
    assert KEYS.file(1, "upload") not in keys_of(store)


def test_a_running_driver_gets_rid_of_its_own_old_large_files() -> None:
    """One that a retired manifest named is not in flight: it goes without a newer claim."""
    store = MemoryStore()
    writer = chain(store).claim()
    for batch in range(20):
        large = upload(store, f"state/{batch}.zip", claim=1, body=b"snapshot")
        writer.commit(batch, [large], removed=[f"state/{batch - 1}.zip"] if batch else [])
    writer.retain()
    assert len(keys_of(store, KEYS.checkpoints + "files/")) < 9


def test_nothing_is_deleted_while_a_kept_manifest_cannot_be_read() -> None:
    """What it names is not known, and it may come back from a backup."""
    store = MemoryStore()
    writer = chain(store, inline_bytes_max=0, full_every=1).claim()
    run(writer, 20)
    damage(store, KEYS.manifest(20))
    assert chain(store).retain(3).objects == ()


def test_an_unreadable_ref_stops_the_run() -> None:
    """What it protects is not known."""
    store = MemoryStore()
    run(chain(store, inline_bytes_max=0).claim(), 20)
    chain(store).tag("t", 5)
    damage(store, KEYS.tag("t", 1))
    packs = keys_of(store, KEYS.checkpoints)
    with pytest.raises(CorruptionError):
        chain(store).retain(3)
    assert keys_of(store, KEYS.checkpoints) == packs


def test_a_dry_run_tells_what_a_run_does_and_changes_nothing() -> None:
    """The same report twice, and only the second time anything is gone."""
    store = MemoryStore()
    run(chain(store, inline_bytes_max=0).claim(), 20)
    before = keys_of(store)
    planned = chain(store).retain(3, dry_run=True)
    assert keys_of(store) == before
    assert chain(store).retain(3) == planned
    assert planned.objects
    assert planned.bytes_freed > 0


def test_a_sweep_touches_no_checkpoint() -> None:
    """It only removes what crashes left behind."""
    store = MemoryStore()
    run(chain(store, inline_bytes_max=0).claim(), 5)
    store.put(KEYS.state(1), b"left behind")
    report = chain(store).sweep()
    assert (report.objects, report.manifests) == ((KEYS.state(1),), ())
    assert numbers(store) == [1, 2, 3, 4, 5, 6]


def test_stand_alone_batches_and_strangers_are_left_alone() -> None:
    """Retention deletes only what the chain itself made."""
    store = MemoryStore()
    store.put(KEYS.batch(1), b"a batcher's")
    store.put(KEYS.checkpoints + "notes.txt", b"a person's")
    run(chain(store).claim(), 20)
    chain(store).retain(3)
    assert {KEYS.batch(1), KEYS.checkpoints + "notes.txt"} <= set(keys_of(store))


def test_a_running_driver_reads_nothing_to_retire_what_it_wrote() -> None:
    """Five lists and two deletes, whatever the number of checkpoints, and its claim's tombstone."""
    meter = Meter()
    writer = chain(MeteredStore(MemoryStore(), meter), inline_bytes_max=0).claim()
    for lists, tombstones in ((5, 1), (4, 0)):
        run(writer, 20)
        before = meter.usage()
        report = writer.retain()
        used = (meter.usage() - before).requests
        assert len(report.manifests) > 10
        assert used == {"put": tombstones, "get": 0, "head": 0, "list": lists, "delete": 2}


def test_files_of_retired_checkpoints_can_be_in_packs_that_stay() -> None:
    """A pack lives as long as one live file is in it."""
    store = MemoryStore()
    writer = chain(store, inline_bytes_max=0).claim()
    writer.commit(0, [file("metadata", "for ever"), *results(0)])
    run(writer, 30)
    writer.retain()
    head = chain(store).recover(deep=True).head
    assert chain(store).read(head, ["metadata"]) == {"metadata": b"for ever"}
    assert head.kind is Kind.COMMIT
