"""Looking objects up: none is missed, and it takes few requests, whatever else is stored."""

from __future__ import annotations

import random

import pytest

from holdfast.chain.objects import MissingError, Presence
from holdfast.manifest.files import ObjectRef
from holdfast.objectstore import MemoryStore, Meter, MeteredStore, Page
from holdfast.settings import LIST_PAGE_MAX
from tests.chain.support import QUERY, chain, file, keys_of, run

FOLDERS = (f"{QUERY}/checkpoints/", "copy/checkpoints/", "a/checkpoints/b/checkpoints/")


class ShortPages(MemoryStore):
    """Seven objects to a page."""

    def list(self, prefix: str = "", *, start_after: str = "", limit: int = LIST_PAGE_MAX) -> Page:
        return super().list(prefix, start_after=start_after, limit=min(limit, 7))


def stored(count: int) -> tuple[ShortPages, list[ObjectRef]]:
    """Objects of three queries, among others that no one asks for, and refs to them."""
    store = ShortPages()
    for folder in FOLDERS:
        for number in range(count):
            store.put(f"{folder}state-{number:06}.bin", b"x" * (number % 5))
            store.put(f"{folder}state-{number:06}.bin-", b"a stranger's")
        store.put(f"{folder}zzz", b"")
    return store, [
        ObjectRef("pack", f"/{folder}state-{number:06}.bin", number % 5, "0" * 64)
        for folder in FOLDERS
        for number in range(count)
    ]


@pytest.mark.parametrize("parallel", [1, 16])
@pytest.mark.parametrize("wanted", [1, 16, 17, 40, 300])
def test_what_is_there_is_found(wanted: int, parallel: int) -> None:
    """Few or many, close together or far apart."""
    store, refs = stored(100)
    some = random.Random(wanted).sample(refs, wanted)
    Presence(chain(store, parallel=parallel).context).check(some)


@pytest.mark.parametrize("wanted", [16, 40, 300])
def test_one_that_is_not_there_is_missed(wanted: int) -> None:
    """Wherever it is in the listing, first and last included."""
    store, refs = stored(100)
    some = random.Random(wanted).sample(refs, wanted)
    for ref in (*some[:10], min(some, key=lambda r: r.key), max(some, key=lambda r: r.key)):
        body = store.get(ref.key[1:]).body
        store.delete([ref.key[1:]])
        with pytest.raises(MissingError, match="is missing"):
            Presence(chain(store).context).check(some)
        store.put(ref.key[1:], body + b"more")
        with pytest.raises(MissingError, match="another size"):
            Presence(chain(store).context).check(some)
        store.put(ref.key[1:], body)


def test_a_long_history_costs_a_start_nothing() -> None:
    """Fifty live packs among two thousand: sixteen pages at most, all at once."""
    meter = Meter()
    store = MeteredStore(MemoryStore(), meter)
    writer = chain(store, inline_bytes_max=0, full_every=64, parallel=16).claim()
    writer.commit(0, [file("metadata", "since the first batch")])
    for batch in range(1, 2000):
        writer.commit(batch, [file(f"state/{batch % 49}", f"{batch}")])
    before = meter.usage()
    found = chain(store, full_every=64, parallel=16).recover()
    used = (meter.usage() - before).requests
    assert found.head.number == 2001
    assert len(keys_of(store, FOLDERS[0])) == 2000
    assert used["list"] <= 3 + 16
    assert used["head"] == 0


def test_looking_up_goes_on_over_a_chain_that_grows() -> None:
    """What one check has found is not asked for again."""
    meter = Meter()
    store = MeteredStore(MemoryStore(), meter)
    writer = chain(store, inline_bytes_max=0).claim()
    run(writer, 3)
    presence = Presence(chain(store).context)
    refs = [file.ref for file in writer.head.files.values() if file.ref is not None]
    presence.check(refs)
    before = meter.usage()
    presence.check(refs)
    assert (meter.usage() - before).total == 0
