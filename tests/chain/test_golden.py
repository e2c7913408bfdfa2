"""The bytes of format 1, kept for ever: a whole small chain, object by object.

To see what a change would do to them: `python -m tests.chain.test_golden` writes them anew.
"""

from __future__ import annotations

import itertools
import shutil
from pathlib import Path

import pytest

from holdfast.chain import Chain
from holdfast.ids import Writer
from holdfast.manifest import intent, record
from holdfast.objectstore import LocalStore, MemoryStore, ObjectStore, scan
from holdfast.settings import ChainSettings
from holdfast.testing import ManualClock
from tests.chain.support import file, plan, results, run

GOLDEN = Path(__file__).parent.parent / "golden" / "chain"
OLDER = GOLDEN.with_name("chain-before-incarnations")


def golden_chain(store: ObjectStore, query: str = "orders/größe") -> Chain:
    """Everything that could differ from run to run, held fast."""
    count = itertools.count(1)
    return Chain(
        store,
        query,
        settings=ChainSettings(retain=3, full_every=4, inline_bytes_max=260, parallel=1),
        clock=ManualClock(),
        nonces=lambda: f"nonce-{next(count)}",
        writer=Writer(host="host", application="application", pid=7, user="user"),
    )


def build(store: ObjectStore) -> None:
    """Claims, intents, packs, tags, a rollback, a clone, a tombstone, a removed query."""
    chain = golden_chain(store)
    writer = chain.claim()
    run(writer, 3)
    writer.intent(3, plan(3))
    writer.commit(3, [*results(3), file("state/large", bytes(range(256)) * 2), file("empty/")])
    run(writer, 4)
    writer.write_hint()
    chain.tag("before", 6)
    chain.rollback(8)
    chain.clone("before", "copy")
    again = chain.claim()
    again.intent(again.head.next_batch, plan(again.head.next_batch, "carried"))
    chain.claim()
    chain.retain(7)
    chain.tag("gone", 13)
    chain.untag("gone")
    removed = golden_chain(store, "removed")
    run(removed.claim(), 1)
    removed.remove()


def contents(store: ObjectStore) -> dict[str, bytes]:
    return {meta.key: store.get(meta.key).body for meta in scan(store)}


def test_the_same_chain_is_the_same_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every object of it, under the same key."""
    monkeypatch.setattr(record, "VERSION", "0.1.0")
    monkeypatch.setattr(intent, "VERSION", "0.1.0")
    store = MemoryStore()
    build(store)
    assert contents(store) == contents(LocalStore(GOLDEN))


@pytest.mark.parametrize("golden", [GOLDEN, OLDER], ids=lambda path: path.name)
def test_what_was_written_once_is_read_for_ever(golden: Path) -> None:
    """Recovered, validated and read as on the first day, and so are its tags and clones."""
    store = MemoryStore()
    for key, body in contents(LocalStore(golden)).items():
        store.put(key, body)
    chain = golden_chain(store)
    found = chain.recover(deep=True)
    assert (found.head.batch, found.report.skipped) == (6, ())
    assert chain.read(found.head)["offsets/7"] == b"carried"
    assert all(chain.validate(checkpoint.number).valid for checkpoint in chain.history())
    clone = golden_chain(store, "copy")
    assert clone.recover(deep=True).head.batch == 4
    names = sorted((ref.is_clone, ref.name, ref.entry.record.batch) for ref in chain.refs())
    assert names == [(False, "before", 4), (True, "copy", 4)]
    assert chain.rollback("before").batch == 4


if __name__ == "__main__":
    shutil.rmtree(GOLDEN, ignore_errors=True)
    built = MemoryStore()
    build(built)
    kept = LocalStore(GOLDEN)
    for key, body in contents(built).items():
        kept.put(key, body)
    shutil.rmtree(GOLDEN / ".holdfast-local")
