"""Flip, truncate, delete or swap any single object: it is found, and never silently used.

For every object of a chain in turn, and for every kind of damage: what recovery then shows is
exactly the state of some checkpoint as it was committed, or an error; and where it is not the
newest, the report says why. Deep validation finds every damaged checkpoint.
"""

from __future__ import annotations

import base64
import os
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from holdfast.chain.objects import needed
from holdfast.chain.read import Reader
from holdfast.errors import ConfigError, CorruptionError
from holdfast.layout import Keys
from holdfast.manifest.files import FileEntry, FileTable, ObjectRef
from holdfast.manifest.plan import Plan
from holdfast.objectstore import Blob, LocalStore, MemoryStore, ObjectMeta, base
from holdfast.pack import encode_batch
from holdfast.settings import DOCUMENT_BYTES_MAX
from tests.chain.support import QUERY, chain, damage, file, keys_of, plan, resealed, run, upload

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def build() -> tuple[MemoryStore, dict[int, dict[str, bytes]]]:
    """A chain with claims, inline packs, sidecars, large files, a tag, a rollback and a plan."""
    store = MemoryStore()
    writer = chain(store, full_every=3, inline_bytes_max=200).claim()
    for batch in range(4):
        writer.intent(batch, [file(f"offsets/{batch}", f"{batch}")])
        large = upload(store, f"state/{batch}.zip", claim=writer.head.claim, body=b"zip %d" % batch)
        padding = file(f"state/{batch}.delta", bytes(range(256)) * (batch % 2 * 2))
        writer.commit(batch, [padding, large])
    chain(store).tag("t", 3)
    chain(store).rollback(4)
    writer = chain(store, full_every=3, inline_bytes_max=200).claim()
    run(writer, 1)
    writer.intent(writer.head.next_batch, plan(writer.head.next_batch))
    numbers = [checkpoint.number for checkpoint in chain(store).history()]
    return store, {number: state(store, number) for number in numbers}


def state(store: MemoryStore, number: int) -> dict[str, bytes]:
    """Every file of one checkpoint."""
    context = chain(store).context
    return chain(store).read(Reader(context).head(number))


def flip(store: MemoryStore, key: str) -> None:
    body = bytearray(store.get(key).body)
    body[len(body) * 2 // 3] ^= 0x10
    store.put(key, bytes(body))


def truncate(store: MemoryStore, key: str) -> None:
    store.put(key, store.get(key).body[:-1])


def delete(store: MemoryStore, key: str) -> None:
    store.delete([key])


def swap(store: MemoryStore, key: str) -> None:
    """The bytes of its neighbour: the same kind of object, well-formed, of another number."""
    folder = key.rpartition("/")[0] + "/"
    siblings = keys_of(store, folder)
    other = siblings[siblings.index(key) - 1] if len(siblings) > 1 else keys_of(store)[0]
    store.put(key, store.get(other).body)


def empty(store: MemoryStore, key: str) -> None:
    store.put(key, b"")


DAMAGE = [flip, truncate, delete, swap, empty]


@pytest.mark.parametrize("harm", DAMAGE, ids=lambda harm: harm.__name__)
def test_damage_to_any_one_object_is_found_and_never_used(
    harm: Callable[[MemoryStore, str], None],
) -> None:
    """Recovery shows a state that was committed, or raises; never a mixture of two."""
    pristine, states = build()
    newest = max(states)
    for key in keys_of(pristine):
        store = MemoryStore()
        for name in keys_of(pristine):
            store.put(name, pristine.get(name).body)
        harm(store, key)
        if store.list(key, limit=1).objects[:1] == pristine.list(key, limit=1).objects[:1]:
            continue  # a swap of an object with its equal is no damage
        try:
            found = chain(store).recover(deep=True)
            shown = chain(store).read(found.head)
        except CorruptionError:
            continue
        number = found.head.number
        assert shown == states[number], key
        assert (
            number == newest
            or any(n > number for n, _ in found.report.skipped)
            or (f"manifest-{newest:06}" in key)
        ), key


@pytest.mark.parametrize("harm", DAMAGE, ids=lambda harm: harm.__name__)
def test_deep_validation_tells_damaged_from_whole(
    harm: Callable[[MemoryStore, str], None],
) -> None:
    """A checkpoint that validates reads back as it was committed; the others are named."""
    pristine, states = build()
    for key in keys_of(pristine):
        store = MemoryStore()
        for name in keys_of(pristine):
            store.put(name, pristine.get(name).body)
        harm(store, key)
        for number, committed in states.items():
            if chain(store).validate(number).valid:
                assert state(store, number) == committed, (key, number)


def without_bytes(document: dict[str, Any]) -> None:
    document["operator_states"].clear()


def with_other_bytes(document: dict[str, Any]) -> None:
    document["operator_states"]["holdfast"]["state_b64"] = base64.b64encode(
        encode_batch([("other", b"bytes")])
    ).decode()


@pytest.mark.parametrize("change", [without_bytes, with_other_bytes])
def test_a_manifest_that_lacks_what_it_lists_is_not_whole(
    change: Callable[[dict[str, Any]], object],
) -> None:
    """Whoever wrote it, and however well it is sealed."""
    store = MemoryStore()
    run(chain(store).claim(), 2)
    key = chain(store).context.keys.manifest(3)
    document = orjson.loads(store.get(key).body)
    change(document)
    store.put(key, resealed(document))
    checked = chain(store).validate(3)
    assert not checked.valid
    assert "bytes" in checked.issues[0]
    with pytest.raises(CorruptionError, match="bytes"):
        state(store, 3)


def test_a_plan_that_lacks_what_it_lists_is_not_read() -> None:
    """Not even from the bytes of a live file with the same name."""
    files = FileTable.of([FileEntry("offsets/1", 1, 0, ObjectRef("inline"))])
    with pytest.raises(CorruptionError, match="a plan lacks a file's bytes"):
        Plan(batch=1, number=1, files=files, pack=encode_batch([("offsets/2", b"x")])).contents()


class InPieces(MemoryStore):
    """Says how much was read at once of any large file."""

    largest = 0

    def get(self, key: str, *, start: int = 0, length: int | None = None) -> Blob:
        found = super().get(key, start=start, length=length)
        if "/files/" in key:
            self.largest = max(self.largest, len(found.body))
        return found

    def head(self, key: str) -> ObjectMeta:
        return super().get(key).meta


def test_a_large_file_is_validated_a_piece_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Snapshots of gigabytes, sixteen at once, would not fit into memory."""
    monkeypatch.setattr(base, "PIECE_BYTES", 1000)
    store = InPieces()
    writer = chain(store).claim()
    large = upload(store, "state/0/0/1.zip", claim=writer.head.claim, body=b"x" * 2500)
    writer.intent(0, plan(0))
    writer.commit(0, [large])
    assert chain(store).validate(writer.head.number).valid
    assert store.largest == 1000
    (key,) = keys_of(store, "orders/checkpoints/files/")
    damage(store, key)
    assert "not what was written" in chain(store).validate(writer.head.number).issues[0]


def test_a_manifest_too_large_to_be_one_is_damaged(tmp_path: Path) -> None:
    """It is not read into memory: recovery takes the checkpoint before it and says why."""
    store = LocalStore(tmp_path)
    run(chain(store).claim(), 2)
    newest = tmp_path / Keys.of_query(QUERY).manifest(3)
    os.truncate(newest, DOCUMENT_BYTES_MAX + 1)  # a hole, which takes no space
    recovery = chain(store).recover()
    assert recovery.head.number == 2
    assert "too large" in dict(recovery.report.skipped)[3]


def test_an_object_that_has_grown_is_not_read_beyond_its_promised_size() -> None:
    """The manifest says how many bytes a pack has; more of them are damage."""
    store = MemoryStore()
    writer = chain(store, inline_bytes_max=0).claim()
    run(writer)
    ref = next(ref for ref in needed(writer.head) if ref.kind == "pack")
    key = writer._context.key_of(ref.key)
    store.put(key, store.get(key).body + b"more")
    with pytest.raises(CorruptionError, match="not what was written"):
        chain(store).read_object(ref)


def test_a_document_that_no_reader_would_take_is_not_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Or the checkpoint would be committed and unreadable."""
    store = MemoryStore()
    writer = chain(store).claim()
    monkeypatch.setattr("holdfast.chain.create.DOCUMENT_BYTES_MAX", 100)
    with pytest.raises(ConfigError, match="a document is too large"):
        writer.intent(0, plan(0))
    assert Keys.of_query(QUERY).intent(2) not in keys_of(store)
