"""Tags and clones: what they protect stays, and they are made in time or not at all."""

from __future__ import annotations

import pytest

from holdfast.errors import AlreadyExistsError, ConfigError, CorruptionError, NotFoundError
from holdfast.layout import Keys
from holdfast.manifest.record import Kind
from holdfast.objectstore import MemoryStore
from holdfast.testing import DyingStore, Fault, FaultyStore, StoreDied
from tests.chain.support import QUERY, Meddling, chain, damage, keys_of, run

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
    """The manifest is read again after the ref is there; if it is gone, so may its objects be."""
    store = MemoryStore()
    run(chain(store).claim(), 3)

    late = Meddling(store, "/refs/", before=lambda: store.delete([KEYS.manifest(2)]))
    with pytest.raises(CorruptionError, match="retired meanwhile"):
        chain(late).tag("late", 2)
    chain(store).untag("late")


def test_a_rollback_that_came_too_late_leaves_no_ref() -> None:
    """Its ref has a name of its own, so no one else can rely on it."""
    store = MemoryStore()
    run(chain(store).claim(), 3)
    late = Meddling(store, "/refs/", before=lambda: store.delete([KEYS.manifest(2)]))
    with pytest.raises(CorruptionError, match="retired meanwhile"):
        chain(late).rollback(2)
    assert keys_of(store, KEYS.refs) == []


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
    assert keys_of(store, KEYS.refs) == [KEYS.clone("copy")]
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
    assert keys_of(store, KEYS.refs) == [KEYS.clone("copy")]
    names = list(clone.head.files)
    clone.commit(2, [], removed=names)
    run(clone, 20)
    clone.retain()
    assert keys_of(store, KEYS.refs) == []


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
    """The ref that it left protects both from then on: it may belong to a clone under way."""
    store = MemoryStore()
    writer = chain(store, inline_bytes_max=0).claim()
    run(writer, 3)
    with pytest.raises(StoreDied):
        chain(DyingStore(store, after=9), inline_bytes_max=0).clone(3, "copy")
    assert keys_of(store, KEYS.refs) == [KEYS.clone("copy")]
    left = chain(store).refs()[0].named()
    copy = chain(store, inline_bytes_max=0).clone(4, "copy")
    expected = copy.read(copy.recover().head)
    assert left < chain(store).refs()[0].named()
    run(writer, 30)
    writer.retain()
    assert copy.read(copy.recover(deep=True).head) == expected


def test_tagging_again_while_retention_runs_never_removes_the_tag_that_is_there() -> None:
    """Nothing is taken back: who found it there in time relies on it."""
    store = MemoryStore()
    run(chain(store, inline_bytes_max=0).claim(), 3)
    chain(store).tag("keep", 2)
    late = Meddling(store, "/refs/", before=lambda: store.delete([KEYS.manifest(2)]))
    with pytest.raises(CorruptionError, match="retired meanwhile"):
        chain(late).tag("keep", 2)
    assert keys_of(store, KEYS.refs) == [KEYS.tag("keep")]


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
    assert keys_of(store, KEYS.refs) == []


def test_an_unreadable_tag_can_be_removed() -> None:
    """What it held is not known, and it is in the way."""
    store = MemoryStore()
    run(chain(store).claim(), 2)
    chain(store).tag("t", 2)
    damage(store, KEYS.tag("t"))
    chain(store).untag("t")
    assert keys_of(store, KEYS.refs) == []


def test_a_ref_that_is_let_go_meanwhile_does_not_stop_retention() -> None:
    """A rollback takes its own away when it is done."""
    store = MemoryStore()
    run(chain(store, inline_bytes_max=0).claim(), 20)
    chain(store).tag("t", 5)
    gone = Fault(error=NotFoundError("no such object"), verb="get", key="*/refs/*")
    assert chain(FaultyStore(store, [gone])).retain(3).manifests
