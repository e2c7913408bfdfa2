"""Removing a query fences whoever runs it, and never looks like a fresh start half way."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest

from holdfast.errors import CorruptionError, FencedError, MisuseError
from holdfast.layout import Keys
from holdfast.objectstore import MemoryStore
from holdfast.testing import DyingStore, StoreDied
from tests.chain.support import QUERY, Meddling, chain, damage, keys_of, live_refs, run

if TYPE_CHECKING:
    from holdfast.chain import Chain

KEYS = Keys.of_query(QUERY)


def test_a_removed_query_is_empty_and_can_begin_again() -> None:
    """Only the fences of its claims stay; the next start is at batch 0, in a new incarnation."""
    store = MemoryStore()
    before = chain(store, inline_bytes_max=0).claim()
    run(before, 5)
    fence = chain(store).remove()
    fences = [KEYS.intent(1), KEYS.intent(fence), KEYS.manifest(1), KEYS.manifest(fence)]
    assert keys_of(store) == fences
    assert not chain(store).exists()
    head = chain(store, "new").claim().head
    assert (head.batch, head.files, head.number) == (-1, {}, fence + 1)
    assert head.lineage.incarnation not in ("", before.head.lineage.incarnation)


def test_a_driver_asleep_since_an_earlier_claim_is_fenced_after_a_removal() -> None:
    """The number that it would create next stays taken, whoever has started the query since."""
    store = MemoryStore()
    asleep = chain(store, "asleep").claim()
    run(asleep, 2)
    run(chain(store, "second").claim(), 8)
    chain(store).remove()
    run(chain(store, "third").claim(), 2)
    with pytest.raises(FencedError):
        run(asleep)


def test_a_removal_leaves_what_a_restarted_driver_has_written_since() -> None:
    """A supervisor started it again while the removal ran: its batches were reported."""
    store = MemoryStore()
    run(chain(store, inline_bytes_max=0).claim(), 3)
    started: list[int] = []

    def restart() -> None:
        if not started:
            started.append(run(chain(store, "again", inline_bytes_max=0).claim(), 5).number)

    tombstone = KEYS.manifest(1)  # put after the removal's own claim is confirmed
    meddling = Meddling(store, tombstone, before=restart)
    chain(meddling, "operator", inline_bytes_max=0).remove()
    found = chain(store).recover(deep=True)
    assert (found.head.batch, found.head.number) == (4, started[0])


def test_a_driver_of_a_removed_query_is_fenced() -> None:
    """What it would go on with is gone."""
    store = MemoryStore()
    writer = chain(store).claim()
    run(writer, 5)
    chain(store, "operator").remove()
    with pytest.raises(FencedError, match="host-operator"):
        run(writer)


def test_purge_leaves_one_object_from_which_the_next_life_counts_on() -> None:
    """For a query that no driver can be running: late requests of it hit numbers below."""
    store = MemoryStore()
    run(chain(store).claim(), 5)
    late = {key: store.get(key).body for key in keys_of(store)}
    fence = chain(store).remove(purge=True)
    assert keys_of(store) == [KEYS.manifest(fence)]
    writer = chain(store, "next").claim()
    run(writer, 2)
    for key, body in late.items():
        store.put(key, body)
    run(writer, 1)
    head = chain(store).recover(deep=True).head
    assert (head.batch, head.number) == (2, fence + 4)


def test_a_late_request_of_an_earlier_life_is_never_recovered() -> None:
    """Where all that is newer is damaged, that is an error, and no way back to a removed query."""
    store = MemoryStore()
    run(chain(store, full_every=1).claim(), 3)
    late = store.get(KEYS.manifest(4)).body
    fence = chain(store).remove(purge=True)
    run(chain(store, "next", full_every=1, inline_bytes_max=0).claim(), 2)
    store.put(KEYS.manifest(4), late)
    store.delete([KEYS.manifest(fence), *keys_of(store, KEYS.checkpoints)])
    for number in (fence + 1, fence + 2):
        damage(store, KEYS.manifest(number))
    with pytest.raises(CorruptionError, match="an earlier incarnation"):
        chain(store).recover()


def test_damage_to_a_new_life_is_no_way_back_to_a_removed_query() -> None:
    """That would be a silent fresh start."""
    store = MemoryStore()
    run(chain(store).claim(), 2)
    fence = chain(store).remove()
    run(chain(store, "next").claim(), 1)
    for number in (fence + 1, fence + 2):
        damage(store, KEYS.manifest(number))
    with pytest.raises(CorruptionError, match="none is valid"):
        chain(store, "third").claim()


def test_a_clone_that_was_cut_short_can_be_removed_and_releases_its_origin() -> None:
    """It noted where it holds refs before it put the first of them."""
    for purge in (False, True):
        for calls in itertools.count():
            store = MemoryStore()
            run(chain(store, inline_bytes_max=0).claim(), 2)
            try:
                chain(DyingStore(store, after=calls), inline_bytes_max=0).clone(3, "copy")
            except StoreDied:
                chain(store, query="copy").remove(purge=purge)
            else:
                break
            assert live_refs(store) == []
            chain(store).remove(purge=purge)
            assert keys_of(store, KEYS.checkpoints) == []


def test_a_ref_that_comes_back_late_does_not_block_a_removal() -> None:
    """Its clone has no hold for it any more, so it is stale."""
    store = MemoryStore()
    run(chain(store, inline_bytes_max=0).claim(), 2)
    copy = chain(store, inline_bytes_max=0).clone(3, "copy")
    late = {key: store.get(key).body for key in keys_of(store, KEYS.refs)}
    copy.remove(purge=True)
    for key, body in late.items():
        store.put(key, body)
    chain(store).remove()


def test_a_query_with_clones_is_not_removed() -> None:
    """They name its objects."""
    store = MemoryStore()
    run(chain(store, inline_bytes_max=0).claim(), 2)
    chain(store).clone(3, "copy")
    with pytest.raises(MisuseError, match="remove the clones first"):
        chain(store).remove()


def test_removing_the_clone_releases_the_original() -> None:
    """Its ref goes with it."""
    store = MemoryStore()
    run(chain(store, inline_bytes_max=0).claim(), 2)
    chain(store).clone(3, "copy").remove()
    assert live_refs(store) == []


def test_a_clone_that_is_made_meanwhile_stops_the_removal() -> None:
    """It is made in time or not at all; either way its objects are there."""
    store = MemoryStore()
    run(chain(store, inline_bytes_max=0).claim(), 2)
    copies: list[Chain] = []

    def clone_once() -> None:
        if not copies:
            copies.append(chain(store, "cloner", inline_bytes_max=0).clone(3, "copy"))

    with pytest.raises(MisuseError, match="remove the clones first"):
        chain(Meddling(store, "/intents/", before=clone_once), "operator").remove()
    head = copies[0].recover(deep=True).head
    assert copies[0].read(head)
    copies[0].remove()
    chain(store).remove()
    assert keys_of(store, KEYS.checkpoints) == []


@pytest.mark.parametrize("last_takes_effect", [False, True], ids=["before", "after"])
def test_a_clones_removal_that_was_cut_short_is_finished_by_a_second_one(
    last_takes_effect: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    """Wherever it was: the original is released, and can be removed itself."""
    for calls in itertools.count():
        store = MemoryStore()
        run(chain(store, inline_bytes_max=0).claim(), 2)
        chain(store, inline_bytes_max=0).clone(3, "copy")
        dying = DyingStore(store, after=calls, last_takes_effect=last_takes_effect)
        try:
            chain(dying, query="copy").remove()
        except StoreDied:
            chain(store, query="copy").remove()
        else:
            break
        chain(store).remove()
        assert keys_of(store, KEYS.checkpoints) == []


def test_a_clone_that_names_nothing_of_the_original_any_more_releases_it() -> None:
    """Also where the retention that should have done it was cut short."""
    store = MemoryStore()
    run(chain(store, inline_bytes_max=0).claim(), 2)
    copy = chain(store, inline_bytes_max=0).clone(3, "copy").claim()
    refs = {key: store.get(key).body for key in keys_of(store, KEYS.refs)}
    copy.commit(2, [], removed=list(copy.head.files))
    run(copy, 20)
    copy.retain()
    for key, body in refs.items():
        store.put(key, body)
    chain(store, query="copy").remove()
    assert live_refs(store) == []


def test_a_clone_from_before_incarnations_releases_the_original() -> None:
    """Its ref has its name alone, and it has no hold."""
    store = MemoryStore()
    run(chain(store, inline_bytes_max=0).claim(), 2)
    copy = chain(store, inline_bytes_max=0).clone(3, "copy")
    (ref,) = keys_of(store, KEYS.refs)
    store.put(KEYS.clone("copy"), store.get(ref).body)
    store.delete([ref, *keys_of(store, "copy/refs/")])
    with pytest.raises(MisuseError, match="remove the clones first"):
        chain(store).remove()
    copy.remove()
    assert live_refs(store) == []


def test_a_broken_query_can_be_removed() -> None:
    """Nothing in it needs to be valid."""
    store = MemoryStore()
    run(chain(store).claim(), 2)
    for number in (1, 2, 3):
        damage(store, KEYS.manifest(number))
    store.put(KEYS.intent(4), b"garbled")
    chain(store).remove()
    assert chain(store, "new").claim().head.batch == -1
