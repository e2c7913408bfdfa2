"""Recovery takes the newest valid checkpoint, says why, and never guesses."""

from __future__ import annotations

from dataclasses import replace

import pytest

from holdfast.errors import ConfigError, CorruptionError, UnavailableError
from holdfast.layout import Keys
from holdfast.objectstore import Blob, MemoryStore, Meter, MeteredStore, ObjectStore
from holdfast.testing import Fault, FaultyStore
from tests.chain.support import QUERY, chain, damage, plan, run

KEYS = Keys.of_query(QUERY)


def test_a_chain_that_never_was_is_a_fresh_start() -> None:
    """No manifest, no intent: nothing chosen, nothing skipped."""
    report = chain(MemoryStore()).recover().report
    assert (report.chosen, report.skipped, report.examined) == (None, (), 0)


def test_a_crashed_first_claim_is_still_a_fresh_start() -> None:
    """Intent 1 is all that it can have left."""
    store = MemoryStore()
    chain(store).claim()
    store.delete([KEYS.manifest(1)])
    assert chain(store).recover().report.chosen is None


def test_a_corrupt_newest_manifest_is_skipped_with_its_reason() -> None:
    """The one before it is used, and the report says so."""
    store = MemoryStore()
    run(chain(store).claim(), 3)
    damage(store, KEYS.manifest(4))
    report = chain(store).recover().report
    assert (report.chosen, report.examined, report.highest) == (3, 2, 4)
    assert report.skipped[0][0] == 4
    assert "manifest 4" in report.skipped[0][1]


def test_a_corrupt_manifest_takes_those_that_build_on_it_with_it() -> None:
    """Changes cannot be added up over a gap."""
    store = MemoryStore()
    run(chain(store, full_every=9).claim(), 4)
    damage(store, KEYS.manifest(3))
    report = chain(store).recover().report
    assert report.chosen == 2
    assert [number for number, _ in report.skipped] == [5, 4, 3]


def test_a_missing_pack_makes_its_checkpoint_invalid() -> None:
    """Found by looking it up, before any task needs it."""
    store = MemoryStore()
    run(chain(store, inline_bytes_max=0).claim(), 3)
    store.delete([KEYS.state(4)])
    report = chain(store).recover().report
    assert (report.chosen, report.skipped[0][1]) == (
        3,
        "an object is missing key=`orders/checkpoints/state-000004.bin`",
    )


def test_a_changed_pack_is_found_by_a_deep_recovery() -> None:
    """The same size, other bytes: only its hash tells."""
    store = MemoryStore()
    run(chain(store, inline_bytes_max=0).claim(), 3)
    damage(store, KEYS.state(4))
    assert chain(store).recover().report.chosen == 4
    assert chain(store).recover(deep=True).report.chosen == 3


def test_a_changed_pack_is_never_read_silently() -> None:
    """Its hash is checked before a byte of it is used."""
    store = MemoryStore()
    writer = chain(store, inline_bytes_max=0).claim()
    run(writer)
    damage(store, KEYS.state(2))
    with pytest.raises(CorruptionError, match="not what was written"):
        chain(store).read(writer.head)


class DamagedOnTheWay(FaultyStore):
    """The first time, each object arrives with a flipped bit."""

    def __init__(self, inner: ObjectStore) -> None:
        super().__init__(inner)
        self._seen: set[str] = set()

    def get(self, key: str, *, start: int = 0, length: int | None = None) -> Blob:
        blob = super().get(key, start=start, length=length)
        if key in self._seen:
            return blob
        self._seen.add(key)
        body = bytearray(blob.body)
        body[len(body) // 2] ^= 0x01
        return replace(blob, body=bytes(body))


def test_damage_on_the_way_is_no_reason_to_walk_back() -> None:
    """What looks damaged is read once more: the batch was reported as committed."""
    store = MemoryStore()
    writer = chain(store, inline_bytes_max=0).claim()
    run(writer, 3)
    expected = chain(store).read(writer.head)
    writer.intent(3, plan(3))
    claimed = chain(DamagedOnTheWay(store), "new", inline_bytes_max=0).claim(deep=True)
    assert (claimed.report.chosen, claimed.report.skipped) == (4, ())
    assert chain(DamagedOnTheWay(store)).read(writer.head).items() >= expected.items()


def test_damage_on_the_way_is_no_reason_to_keep_garbage() -> None:
    """Retention reads what looks damaged once more, too."""
    store = MemoryStore()
    run(chain(store, inline_bytes_max=0, full_every=1).claim(), 20)
    chain(store).tag("t", 5)
    assert chain(DamagedOnTheWay(store)).retain(3).objects


def test_an_unavailable_store_is_no_reason_to_walk_back() -> None:
    """Timeouts raise: what was not read is not known to be corrupt."""
    store = MemoryStore()
    run(chain(store).claim(), 3)
    away = Fault(error=UnavailableError("timed out"), verb="get", key="*manifest-000004*")
    with pytest.raises(UnavailableError):
        chain(FaultyStore(store, [away])).recover()


def test_a_newer_format_is_refused_and_not_walked_over() -> None:
    """The error says what to install; going back would undo what a newer version committed."""
    store = MemoryStore()
    run(chain(store).claim(), 2)
    body = store.get(KEYS.manifest(3)).body
    newer = body.replace(b'"format":1,"version":"', b'"format":2,"version":"9')
    assert newer != body
    store.put(KEYS.manifest(3), newer)
    with pytest.raises(ConfigError, match=r"pip install 'holdfast>=9"):
        chain(store).recover()


def test_a_chain_copied_to_another_name_is_refused() -> None:
    """It would be two writers' objects under one name; `clone` does it right."""
    store = MemoryStore()
    run(chain(store).claim(), 1)
    for meta in store.list(KEYS.root).objects:
        store.put(meta.key.replace(QUERY, "copy"), store.get(meta.key).body)
    with pytest.raises(CorruptionError, match="holdfast clone"):
        chain(store, query="copy").recover()


def test_a_store_that_is_copied_elsewhere_works() -> None:
    """Keys are relative, so a bucket can move."""
    store, elsewhere = MemoryStore(), MemoryStore()
    writer = chain(store, inline_bytes_max=0).claim()
    run(writer, 5)
    for meta in store.list().objects:
        elsewhere.put(meta.key, store.get(meta.key).body)
    head = chain(elsewhere).recover(deep=True).head
    assert chain(elsewhere).read(head) == chain(store).read(writer.head)


def test_requests_do_not_grow_with_the_length_of_the_chain() -> None:
    """Beyond the listing's pages: the newest manifest, those up to its full one, its packs."""
    meter = Meter()
    store = MeteredStore(MemoryStore(), meter)
    writer = chain(store, full_every=8).claim()
    used = []
    for _ in range(3):
        run(writer, 80)
        before = meter.usage()
        chain(store).recover()
        used.append((meter.usage() - before).total)
    assert len(set(used)) == 1


def test_a_long_walk_back_takes_few_rounds() -> None:
    """The further it goes, the more it fetches at once."""
    store = MemoryStore()
    run(chain(store, full_every=1).claim(), 200)
    for number in range(50, 202):
        damage(store, KEYS.manifest(number))
    report = chain(store, parallel=8).recover().report
    assert (report.chosen, report.examined) == (49, 153)


def test_a_manifest_without_our_object_is_not_followed() -> None:
    """Another program that rewrote it dropped what makes it a checkpoint of a chain."""
    store = MemoryStore()
    run(chain(store).claim(), 2)
    body = store.get(KEYS.manifest(3)).body
    store.put(KEYS.manifest(3), body[: body.index(b',"holdfast"')] + b"}")
    assert chain(store).recover().report.chosen == 2
