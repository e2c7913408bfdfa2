"""Tags and clones: what they protect stays, and they are made in time or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from holdfast.errors import AlreadyExistsError, ConfigError, CorruptionError, NotFoundError
from holdfast.layout import Keys
from holdfast.manifest.record import Kind
from holdfast.objectstore import MemoryStore
from holdfast.testing import DyingStore, Fault, FaultyStore, StoreDied
from tests.chain.support import QUERY, Meddling, chain, damage, keys_of, live_refs, run

if TYPE_CHECKING:
    from collections.abc import Mapping

KEYS = Keys.of_query(QUERY)


def test_a_tag_protects_its_objects_for_ever() -> None:
    """Retention may retire the manifest, never what the tag reaches."""
    store = MemoryStore()
    writer = chain(store, inline_bytes_max=0).claim()
    run(writer, 2)
    ref = chain(store).tag("keep", 3)
    run(writer, 30)
    writer.retain()
    needed = {KEYS.root + r.key for r in ref.entry.record.files.refs if r}
    assert needed
    assert needed <= set(keys_of(store))
    assert KEYS.manifest(3) not in keys_of(store)


def test_without_the_tag_the_same_objects_go() -> None:
    """So the test above can fail."""
    store = MemoryStore()
    writer = chain(store, inline_bytes_max=0).claim()
    run(writer, 2)
    ref = chain(store).tag("keep", 3)
    chain(store).untag("keep")
    run(writer, 30)
    writer.retain()
    gone = {KEYS.root + r.key for r in ref.entry.record.files.refs if r} - set(keys_of(store))
    assert gone


def test_a_tag_that_came_too_late_is_refused() -> None:
    """Manifests are listed again after the ref is there; if one is gone, its objects may be."""
    store = MemoryStore()
    run(chain(store).claim(), 3)
    late = Meddling(store, "/refs/", before=lambda: store.delete([KEYS.manifest(2)]))
    with pytest.raises(CorruptionError, match="retired meanwhile"):
        chain(late).tag("late", 2)
    assert live_refs(store) == []


def test_a_tag_needs_every_manifest_since_its_base() -> None:
    """Half a retention has deleted the base, so a sweep may have deleted what only that named."""
    store = MemoryStore()
    run(chain(store).claim(), 2)
    late = Meddling(store, "/refs/", before=lambda: store.delete([KEYS.manifest(1)]))
    with pytest.raises(CorruptionError, match="retired meanwhile"):
        chain(late).tag("late", 3)


def test_a_rollback_that_came_too_late_leaves_no_ref() -> None:
    """Its ref has a name of its own, so no one else can rely on it."""
    store = MemoryStore()
    run(chain(store).claim(), 3)
    late = Meddling(store, "/refs/", before=lambda: store.delete([KEYS.manifest(2)]))
    with pytest.raises(CorruptionError, match="retired meanwhile"):
        chain(late).rollback(2)
    assert live_refs(store) == []


def test_the_same_tag_again_is_success_and_another_checkpoint_is_not() -> None:
    """A name means one checkpoint."""
    store = MemoryStore()
    run(chain(store).claim(), 3)
    first = chain(store).tag("v1", 2)
    assert chain(store).tag("v1", 2).entry.number == first.entry.number
    with pytest.raises(AlreadyExistsError):
        chain(store).tag("v1", 3)


def test_tag_names_are_escaped_and_dots_reserved() -> None:
    """Any name a person chooses can be a tag, but for those that rollbacks use."""
    store = MemoryStore()
    run(chain(store).claim(), 1)
    chain(store).tag("vor dem Umbau / größer", 2)
    assert [ref.name for ref in chain(store).refs()] == ["vor dem Umbau / größer"]
    with pytest.raises(ConfigError):
        chain(store).tag(".rollback-x", 2)


def test_untagging_what_is_not_there_is_an_error() -> None:
    """A typing error must not look like success."""
    with pytest.raises(NotFoundError):
        chain(MemoryStore()).untag("nope")


def test_a_clone_begins_with_the_same_files_and_copies_nothing() -> None:
    """Its first manifest names the other's objects."""
    store = MemoryStore()
    writer = chain(store, inline_bytes_max=0).claim()
    run(writer, 4)
    clone = chain(store).clone(5, "copy")
    head = clone.claim().head
    assert clone.read(head) == chain(store).read(writer.head)
    assert keys_of(store, "copy/checkpoints/") == []
    assert (head.batch, clone.history()[0].entry.record.kind) == (3, Kind.CLONE)  # type: ignore[union-attr]


def test_a_clone_goes_on_by_itself() -> None:
    """Two queries, two chains; neither sees the other's batches."""
    store = MemoryStore()
    writer = chain(store).claim()
    run(writer, 2)
    copy = chain(store).clone(3, "copy").claim()
    run(copy, 3)
    run(writer, 1)
    assert (copy.head.batch, writer.head.batch) == (4, 2)


class Shouting:
    """Changes the offsets, and nothing else."""

    def wants(self, path: str) -> bool:
        return path.startswith("offsets/")

    def notes(self, notes: Mapping[str, Any]) -> dict[str, Any]:
        return dict(notes)

    def rewrite(self, path: str, body: bytes) -> bytes:
        return body.upper()


def test_files_can_have_other_bytes_in_a_clone() -> None:
    """Those that hold absolute paths or an identity of their own."""
    store = MemoryStore()
    run(chain(store).claim(), 1)
    clone = chain(store).clone(2, "copy", rewrite=Shouting())
    files = clone.read(clone.recover().head)
    assert (files["offsets/0"], files["commits/0"]) == (b"PLAN OF 0", b"v1")


def test_a_clones_objects_outlive_the_originals_retention() -> None:
    """The ref at the source stays while a manifest of the clone names its objects."""
    store = MemoryStore()
    writer = chain(store, inline_bytes_max=0).claim()
    run(writer, 2)
    clone = chain(store, inline_bytes_max=0).clone(3, "/copy/")
    assert live_refs(store) == ["clone copy"]
    expected = clone.read(clone.recover().head)
    run(writer, 30)
    writer.retain()
    assert clone.read(clone.recover(deep=True).head) == expected


def test_a_clone_releases_the_original_once_it_names_nothing_of_it() -> None:
    """Then the original's retention may delete what only the clone had kept."""
    store = MemoryStore()
    writer = chain(store, inline_bytes_max=0).claim()
    writer.commit(0, [])
    run(writer, 1)
    clone = chain(store, inline_bytes_max=0).clone(3, "copy").claim()
    assert live_refs(store) == ["clone copy"]
    names = list(clone.head.files)
    clone.commit(2, [], removed=names)
    run(clone, 20)
    clone.retain()
    assert live_refs(store) == []


def test_a_clone_of_a_clone_is_protected_in_both_chains() -> None:
    """Its objects may be those of the first query; the middle one may go."""
    store = MemoryStore()
    run(chain(store, inline_bytes_max=0).claim(), 2)
    middle = chain(store, inline_bytes_max=0).clone(3, "middle")
    last = middle.clone(1, "last")
    expected = last.read(last.recover().head)
    middle.remove()
    writer = chain(store, inline_bytes_max=0).claim()
    run(writer, 30)
    writer.retain()
    assert last.read(last.recover(deep=True).head) == expected


def test_cloning_onto_a_query_that_exists_is_refused() -> None:
    """Nothing of it is touched."""
    store = MemoryStore()
    run(chain(store).claim(), 1)
    run(chain(store, query="other").claim(), 1)
    before = keys_of(store)
    with pytest.raises(AlreadyExistsError, match="choose another name"):
        chain(store).clone(2, "other")
    assert keys_of(store) == before


def test_a_clone_that_was_cut_short_can_be_made_of_another_checkpoint() -> None:
    """Each has a ref of its own: the first one may belong to a clone that is being made."""
    store = MemoryStore()
    writer = chain(store, inline_bytes_max=0).claim()
    run(writer, 3)
    with pytest.raises(StoreDied):
        chain(DyingStore(store, after=11), inline_bytes_max=0).clone(3, "copy")
    assert live_refs(store) == ["clone copy"]
    copy = chain(store, inline_bytes_max=0).clone(4, "copy")
    expected = copy.read(copy.recover().head)
    assert live_refs(store) == ["clone copy", "clone copy"]
    run(writer, 30)
    writer.retain()
    assert copy.read(copy.recover(deep=True).head) == expected


def test_tagging_again_holds_although_the_checkpoint_is_retired_meanwhile() -> None:
    """The tag that is there protects the same objects."""
    store = MemoryStore()
    run(chain(store, inline_bytes_max=0).claim(), 3)
    chain(store).tag("keep", 2)
    late = Meddling(store, "/refs/", before=lambda: store.delete([KEYS.manifest(2)]))
    chain(late).tag("keep", 2)
    assert live_refs(store) == ["tag keep"]


def test_a_delete_that_arrives_late_removes_no_tag_that_was_made_since() -> None:
    """No key of a tag is used again, so the delete of the removed one hits nothing."""
    store = MemoryStore()
    run(chain(store).claim(), 3)
    chain(store).tag("keep", 2)
    before = keys_of(store, KEYS.refs)
    chain(store).untag("keep")
    chain(store).tag("keep", 3)
    store.delete(before)
    assert [(ref.name, ref.entry.number) for ref in chain(store).refs()] == [("keep", 3)]


def test_a_put_that_arrives_late_brings_no_removed_tag_back() -> None:
    """The marker of its removal stays, and covers it."""
    store = MemoryStore()
    run(chain(store).claim(), 3)
    chain(store).tag("keep", 2)
    removed = {key: store.get(key).body for key in keys_of(store, KEYS.refs)}
    chain(store).untag("keep")
    for key, body in removed.items():
        store.put(key, body)
    assert live_refs(store) == []


def test_a_tag_from_before_generations_is_read_and_can_be_removed() -> None:
    """Its key has no generation; given again, the name gets a new key."""
    store = MemoryStore()
    run(chain(store).claim(), 3)
    chain(store).tag("old", 2)
    store.put(KEYS.tag("old"), store.get(KEYS.tag("old", 1)).body)
    store.delete([KEYS.tag("old", 1)])
    assert live_refs(store) == ["tag old"]
    assert chain(store).rollback("old").target == 2
    chain(store).untag("old")
    assert live_refs(store) == []
    chain(store).tag("old", 3)
    store.delete([KEYS.tag("old")])
    assert live_refs(store) == ["tag old"]


def test_a_tag_whose_removal_has_begun_is_no_source() -> None:
    """Its marker is there, so retention no longer sees it; its key may be there for a while."""
    store = MemoryStore()
    run(chain(store, inline_bytes_max=0).claim(), 3)
    chain(store).tag("old", 2)
    marker = KEYS.tag_removal("old", 1)
    late = Meddling(store, "/tags/new", before=lambda: store.put(marker, b"{}"))
    with pytest.raises(CorruptionError, match="retired meanwhile"):
        chain(late).tag("new", "old")


def test_a_clone_that_fails_leaves_no_ref() -> None:
    """Its refs have its incarnation in their keys, so no one else relies on them."""
    store = MemoryStore()
    run(chain(store, inline_bytes_max=0).claim(), 3)
    late = Meddling(store, "/refs/", before=lambda: store.delete([KEYS.manifest(2)]))
    with pytest.raises(CorruptionError, match="retired meanwhile"):
        chain(late, inline_bytes_max=0).clone(2, "copy")
    assert live_refs(store) == []
    assert keys_of(store, "copy/") == []


def cloned_and_tagged(store: MemoryStore) -> dict[str, bytes]:
    """A clone whose tag alone still names objects of the original; and what the tag holds."""
    run(chain(store, inline_bytes_max=0).claim(), 2)
    copy = chain(store, inline_bytes_max=0).clone(3, "copy")
    expected = copy.read(copy.recover().head)
    copy.tag("keep", 1)
    writer = copy.claim()
    writer.commit(2, [], removed=list(writer.head.files))
    run(writer, 20)
    writer.retain()
    return expected


def test_a_clones_tag_holds_objects_of_the_original_too() -> None:
    """Its last manifest that names them may be gone: the original keeps them for the tag."""
    store = MemoryStore()
    expected = cloned_and_tagged(store)
    writer = chain(store, inline_bytes_max=0).claim()
    run(writer, 30)
    writer.retain()
    copy = chain(store, query="copy")
    assert copy.read(copy.refs()[0].head()) == expected


def test_removing_the_last_tag_of_a_clone_releases_the_original() -> None:
    """No retention of the clone would do it: its manifests had named nothing of it for long."""
    store = MemoryStore()
    cloned_and_tagged(store)
    chain(store, query="copy").untag("keep")
    assert live_refs(store) == []


def test_an_unreadable_tag_can_be_removed() -> None:
    """What it held is not known, and it is in the way."""
    store = MemoryStore()
    run(chain(store).claim(), 2)
    chain(store).tag("t", 2)
    damage(store, KEYS.tag("t", 1))
    chain(store).untag("t")
    assert live_refs(store) == []


def test_a_ref_that_is_gone_when_it_is_read_stops_the_deletion_of_objects() -> None:
    """Another one may have been made from it; the next run finds out."""
    store = MemoryStore()
    run(chain(store, inline_bytes_max=0).claim(), 20)
    chain(store).tag("t", 5)
    gone = Fault(error=NotFoundError("no such object"), verb="get", key="*/refs/*")
    report = chain(FaultyStore(store, [gone])).retain(3)
    assert (bool(report.manifests), report.objects, report.is_complete) == (True, (), False)
    assert chain(store).sweep().objects
