"""Full manifests tell what those between them name; what is told is what is read."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import orjson
import pytest

from holdfast.chain.read import list_manifests
from holdfast.chain.summary import Summaries, Summary, summarise
from holdfast.errors import CorruptionError
from holdfast.layout import Keys
from holdfast.manifest import recap
from holdfast.manifest.record import Kind, decode_chain_manifest
from holdfast.objectstore import MemoryStore, Meter, MeteredStore, ObjectStore
from tests.chain.support import QUERY, chain, damage, results, run, upload

if TYPE_CHECKING:
    from holdfast.manifest.recap import Recap

KEYS = Keys.of_query(QUERY)


def gets_of_a_retention(store: ObjectStore) -> int:
    """How many manifests a process reads that knows nothing of this chain."""
    meter = Meter()
    told_by(MeteredStore(store, meter))
    return meter.usage().requests["get"]


def read_each(store: ObjectStore) -> dict[int, Summary]:
    """Summaries as they are in the manifests themselves."""
    return {
        number: summarise(
            decode_chain_manifest(store.get(KEYS.manifest(number)).body, number=number, query=QUERY)
        )
        for number in list_manifests(chain(store).context).numbers
    }


def told_by(store: ObjectStore) -> dict[int, Summary]:
    context = chain(store).context
    return Summaries(context).of(list_manifests(context))


def of_interest(summary: Summary) -> tuple[object, ...]:
    """All that retention asks of a manifest that does not hold its number."""
    parent = summary.parent and (summary.parent.number, summary.parent.sha256)
    return summary.kind, summary.base, summary.sha256, parent, summary.claim, summary.named


def history(seed: int) -> MemoryStore:
    """Starts, batches, rollbacks, tags, resets, large files and retentions in some order."""
    chance = random.Random(seed)
    store = MemoryStore()
    one = chain(
        store, full_every=chance.choice((2, 4, 8)), inline_bytes_max=chance.choice((0, 999))
    )
    writer = one.claim()
    for step in range(12):
        run(writer, chance.randrange(1, 12))
        what = chance.randrange(6)
        if what == 0:
            writer = one.claim()
        elif what == 1:
            one.rollback(writer.head.number - 1)
            writer = one.claim()
        elif what == 2:
            one.retain(chance.randrange(1, 20))
        elif what == 3:
            one.tag(f"tag-{step}", writer.head.number)
            run(writer, 3)
            one.rollback(f"tag-{step}")
            writer = one.claim()
        elif what == 4:
            one.reset(f"reset-{step}")
            writer = one.claim()
        else:
            batch = writer.head.next_batch
            large = upload(store, f"large-{batch}", claim=writer.head.claim, body=b"large")
            writer.commit(batch, [*results(batch), large])
    return store


@pytest.mark.parametrize("seed", range(20))
def test_what_is_told_is_what_is_read(seed: int) -> None:
    store = history(seed)
    told, read = told_by(store), read_each(store)
    assert {n: of_interest(each) for n, each in told.items()} == {
        n: of_interest(each) for n, each in read.items()
    }
    fences = {n for n, each in read.items() if each.holds_its_number}
    assert {n: told[n] for n in fences} == {n: read[n] for n in fences}


def test_only_full_manifests_are_read() -> None:
    """Of four runs of a hundred batches: their claims, and every eighth of the rest."""
    store = MemoryStore()
    for _ in range(4):
        run(chain(store, full_every=8).claim(), 100)
    full = sum(1 for each in read_each(store).values() if each.kind is not Kind.COMMIT)
    assert full == 4
    unclosed = 100 % 8  # of the last run: no full manifest is above them
    assert gets_of_a_retention(store) == 4 * (1 + 100 // 8) + unclosed


def test_a_start_tells_of_a_run_that_was_cut_short() -> None:
    """The claim has read what that run left, so nobody reads it for retention."""
    store = MemoryStore()
    run(chain(store, full_every=64).claim(), 30)
    before = gets_of_a_retention(store)
    run(chain(store, full_every=64).claim(), 1)
    assert (before, gets_of_a_retention(store)) == (31, 3)


def test_a_rollback_tells_of_what_it_undoes() -> None:
    """To a number or to a tag: a recap is of the numbers before, not of the state gone back to."""
    store = MemoryStore()
    run(chain(store, full_every=16).claim(), 80)
    before = gets_of_a_retention(store)
    chain(store, full_every=16).tag("then", 20)
    for target in (30, "then"):
        chain(store, full_every=16).rollback(target)
        run(chain(store, full_every=16).claim(), 1)
    assert gets_of_a_retention(store) <= before + 2 * 4


def test_another_version_is_read_again() -> None:
    """What was told of the bytes before says nothing of a manifest that was damaged since."""
    store = MemoryStore()
    run(chain(store, full_every=4).claim(), 20)
    damage(store, KEYS.manifest(15))
    assert not told_by(store)[15].is_readable
    assert chain(store).retain(8).kept_from == 9


def test_commits_that_name_too_much_are_not_told_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A full manifest stays small; what it leaves out is read."""
    monkeypatch.setattr(recap, "_OBJECTS_MAX", 2)
    store = MemoryStore()
    run(chain(store, full_every=6, inline_bytes_max=0).claim(), 6)
    assert len(recap_of(store, 7).steps) == 2
    assert told_by(store).keys() == read_each(store).keys()


def test_a_recap_that_cannot_be_is_refused() -> None:
    store = MemoryStore()
    run(chain(store, full_every=4, inline_bytes_max=0).claim(), 4)
    good = orjson.loads(orjson.dumps(recap_of(store, 5).to_json()))
    assert recap.Recap.from_json(good, below=5) == recap_of(store, 5)
    wrong: list[dict[str, object]] = [
        {**good, "base": 5},
        {**good, "etags": good["etags"][1:]},
        {**good, "named": [[99], *good["named"][1:]]},
        {**good, "named": [[True], *good["named"][1:]]},
        {**good, "fulls": [7]},
    ]
    for each in wrong:
        with pytest.raises(CorruptionError):
            recap.Recap.from_json(each, below=5)
    with pytest.raises(CorruptionError):
        recap.Recap.from_json(good, below=4)


def recap_of(store: ObjectStore, number: int) -> Recap:
    body = store.get(KEYS.manifest(number)).body
    found = decode_chain_manifest(body, number=number, query=QUERY).record.recap
    assert found is not None
    return found
