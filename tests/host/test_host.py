"""The Python side of a driver, without Spark: what the JVM's events come to on the store."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from holdfast.errors import (
    BridgeError,
    CarriedPlanError,
    ConfigError,
    ConfigMismatchError,
    FencedError,
    MisuseError,
    NotFoundError,
)
from holdfast.spark.host import Host, Recovered
from holdfast.spark.run import Described
from holdfast.spark.shown import Fetched
from tests.host.jvm import FakeJvm

if TYPE_CHECKING:
    from collections.abc import Callable


def test_a_batch_is_an_intent_and_a_manifest(
    make_host: Callable[..., Host], tmp_path: Path
) -> None:
    """And nothing else."""
    jvm = FakeJvm(make_host())
    text = jvm.run_batch(0, v1_delta=b"state")
    names = sorted(path.name for path in (tmp_path / "store" / "orders").rglob("*.json"))
    assert names == [f"{what}-00000{n}.json" for what in ("intent", "manifest") for n in (1, 2)]
    assert text.startswith("orders: checkpoint 2 = batch 0: 3 files")


def test_a_restart_shows_what_was_committed_and_what_was_planned(
    make_host: Callable[..., Host],
) -> None:
    """State that was written for a batch that was not committed is gone."""
    jvm = FakeJvm(make_host())
    jvm.run_batch(0, v1_delta=b"one")
    jvm.write("offsets/1", b"v1\n{}\n1")
    jvm.host.intent(jvm.key, jvm.claim, 1, jvm.tell())
    jvm.write("state/0/0/2.delta", b"half of it")
    shown = FakeJvm(make_host()).catalog()
    assert set(shown) == {"offsets/0", "offsets/1", "commits/0", "state/0/0/1.delta"}
    assert shown["offsets/1"] == b"v1\n{}\n1"


def test_state_waits_for_its_commit_when_a_batch_is_planned(make_host: Callable[..., Host]) -> None:
    """A snapshot from a background thread rides with the next manifest, not with the plan."""
    jvm = FakeJvm(make_host())
    jvm.write("state/0/0/9.zip", b"snapshot")
    jvm.run_batch(0)
    assert jvm.host.start("", "orders").claim == 3
    assert FakeJvm(make_host()).catalog()["state/0/0/9.zip"] == b"snapshot"


def test_what_is_removed_is_gone_with_the_next_commit(make_host: Callable[..., Host]) -> None:
    """And what was written and removed in between was never there."""
    jvm = FakeJvm(make_host())
    jvm.run_batch(0, v1_delta=b"one")
    jvm.remove("state/0/0/1.delta")
    jvm.write("state/0/0/x", b"x")
    jvm.remove("state/0/0/x")
    jvm.run_batch(1)
    assert not {path for path in FakeJvm(make_host()).catalog() if path.startswith("state/")}


def test_a_pack_is_fetched_once_for_all_its_files(make_host: Callable[..., Host]) -> None:
    """One answer places every file of it."""
    jvm = FakeJvm(make_host(inlineBytes="0"))
    jvm.run_batch(0, v1_delta=b"one", v2_delta=b"two")
    again = FakeJvm(make_host(inlineBytes="0", prefetchBytes="0"))
    assert again.catalog()["state/0/0/1.delta"] is None
    found = again.host.fetch(again.key, again.claim, "state/0/0/1.delta")
    assert isinstance(found, Fetched)
    assert {name for name, _, _ in found.files} == {
        "offsets/0",
        "commits/0",
        "state/0/0/1.delta",
        "state/0/0/2.delta",
    }
    assert again.read("state/0/0/2.delta") == b"two"


def test_who_asks_while_another_takes_a_pack_in_gets_the_same_segment(
    make_host: Callable[..., Host],
) -> None:
    """Two tasks that open files of one pack cost one request; a dropped segment is fetched anew."""
    FakeJvm(make_host(inlineBytes="0")).run_batch(0, v1_delta=b"one", v2_delta=b"two")
    again = FakeJvm(make_host(inlineBytes="0", prefetchBytes="0"))
    first = again.host.fetch(again.key, again.claim, "state/0/0/1.delta")
    second = again.host.fetch(again.key, again.claim, "state/0/0/2.delta")
    assert isinstance(first, Fetched)
    assert second == first
    (Path(again.recovered.directory) / first.segment).unlink()
    third = again.host.fetch(again.key, again.claim, "state/0/0/1.delta")
    assert isinstance(third, Fetched)
    assert (third.segment != first.segment, third.files) == (True, first.files)


def test_what_a_start_needs_is_fetched_ahead(make_host: Callable[..., Host]) -> None:
    """The answer is there when the JVM asks."""
    jvm = FakeJvm(make_host(inlineBytes="0"))
    jvm.run_batch(0, v1_delta=b"one")
    again = FakeJvm(make_host(inlineBytes="0"))
    assert again.read("state/0/0/1.delta") == b"one"
    assert again.read("commits/0") == b"v1\n{}"


def test_a_damaged_pack_is_found_by_the_start_that_needs_it(
    make_host: Callable[..., Host], tmp_path: Path
) -> None:
    """Its size is right, so only its hash shows it; the start goes back, and says so."""
    jvm = FakeJvm(make_host(inlineBytes="0"))
    jvm.run_batch(0, v1_delta=b"one")
    jvm.run_batch(1, v2_delta=b"two")
    newest = max((tmp_path / "store").rglob("state-*.bin"))
    newest.write_bytes(bytes(newest.stat().st_size))
    again = FakeJvm(make_host(inlineBytes="0"))
    (status,) = again.host.statuses()
    assert (status.batch, again.read("state/0/0/1.delta")) == (0, b"one")
    assert status.recovery is not None
    assert "not what was written" in status.recovery.skipped[0][1]
    assert "skipped 3: an object is not what was written" in status.warnings[0]
    assert again.recovered.is_warning


def test_an_earlier_driver_is_fenced_and_its_status_says_so(make_host: Callable[..., Host]) -> None:
    """With the error's type, which the text that Spark shows has lost."""
    earlier = FakeJvm(make_host())
    earlier.run_batch(0)
    later = FakeJvm(make_host())
    with pytest.raises(FencedError):
        earlier.run_batch(1)
    (status,) = earlier.host.statuses()
    assert (status.fenced, status.error) == (True, "FencedError")
    later.run_batch(1)
    assert later.host.statuses()[0].batch == 1


def test_a_start_that_goes_back_says_so_and_what_it_takes_to_come_forward(
    make_host: Callable[..., Host], tmp_path: Path
) -> None:
    """Spark takes up one plan at a start, so the others need starts of their own, or a rollback."""
    jvm = FakeJvm(make_host())
    for batch in range(4):
        jvm.run_batch(batch)
    for number in (3, 4, 5):
        (tmp_path / f"store/orders/manifests/manifest-{number:06}.json").write_bytes(b"{}")
    again = FakeJvm(make_host())
    (status,) = again.host.statuses()
    assert (status.batch, status.live_files) == (0, 2)
    assert "skipped 3:" in status.warnings[0]
    assert "batch 1 was planned and is run as planned, and so are 2 planned" in status.warnings[0]
    again.run_batch(1)
    again.write("offsets/2", b"v1\n{}\nanother plan")
    with pytest.raises(CarriedPlanError) as stopped:
        again.host.intent(again.key, again.claim, 2, again.tell())
    assert "1 more are carried" in stopped.value.hint
    assert "holdfast rollback orders --to 7" in stopped.value.hint


def test_an_event_of_an_earlier_start_is_refused(make_host: Callable[..., Host]) -> None:
    """In the same driver, too."""
    jvm = FakeJvm(make_host())
    old = jvm.claim
    jvm.start()
    with pytest.raises(FencedError, match="started the query again"):
        jvm.host.commit(jvm.key, old, 0, "")


def test_a_reader_sees_the_newest_and_claims_nothing(make_host: Callable[..., Host]) -> None:
    """It is told "the same" while nothing is newer."""
    jvm = FakeJvm(make_host())
    jvm.run_batch(0)
    reader = make_host()
    first = reader.recover("", "orders/commits", known=0)
    assert isinstance(first, Recovered)
    assert (first.root, first.checkpoint) == ("orders", 2)
    assert first.claim < 0
    assert reader.recover("", "orders", known=2) == 2
    jvm.run_batch(1)
    second = reader.recover("", "orders", known=2)
    assert isinstance(second, Recovered)
    assert "commits/1" in jvm.catalog(second)
    assert reader.recover("", "no/such/query", known=0) is None


def test_old_views_go_with_their_spool(make_host: Callable[..., Host], tmp_path: Path) -> None:
    """However often a reader comes back."""
    jvm = FakeJvm(make_host())
    jvm.run_batch(0)
    reader = make_host()
    for _ in range(50):
        reader.recover("", "orders", known=0)
    directories = [path for path in (tmp_path / "spool").glob("*/*") if path.is_dir()]
    assert len(directories) < 40
    with pytest.raises(MisuseError, match="too long ago"):
        reader.fetch("/orders", -1, "commits/0")


def test_hints_and_retention_run_behind(make_host: Callable[..., Host], tmp_path: Path) -> None:
    """Every so many checkpoints, and after every second full one."""
    host = make_host(retain="3", fullEvery="4", hintEvery="5")
    jvm = FakeJvm(host)
    for batch in range(20):
        jvm.run_batch(batch)
    host.close()
    manifests = sorted((tmp_path / "store" / "orders" / "manifests").glob("manifest-*"))
    assert len(manifests) < 12
    assert (tmp_path / "store" / "orders" / "manifests" / "latest.json").exists()


def test_a_failure_behind_is_a_warning_of_the_status(
    make_host: Callable[..., Host], tmp_path: Path
) -> None:
    """No batch waits for it, and it is not silent."""
    host = make_host(hintEvery="2")
    jvm = FakeJvm(host)
    latest = tmp_path / "store" / "orders" / "manifests" / "latest.json"
    latest.mkdir()  # so that the hint cannot be written
    jvm.run_batch(0)
    jvm.run_batch(1)
    host.close()
    (status,) = host.statuses()
    assert "upkeep of the chain failed" in status.warnings[0]
    assert status.active


def test_a_segment_that_is_not_what_was_said_is_an_error(make_host: Callable[..., Host]) -> None:
    """Never a commit of other bytes."""
    jvm = FakeJvm(make_host())
    with pytest.raises(BridgeError, match="the spool does not hold"):
        jvm.host.intent(jvm.key, jvm.claim, 0, "f\toffsets/0\t1\t10\tshim-9\t0\n")


def test_a_line_of_a_newer_shim_is_an_error(make_host: Callable[..., Host]) -> None:
    """It may be what a commit rests on."""
    jvm = FakeJvm(make_host())
    with pytest.raises(BridgeError, match="does not know"):
        jvm.host.intent(jvm.key, jvm.claim, 0, "?\twhat\n")


@pytest.mark.parametrize("path", ["orders/commits", "state"])
def test_what_was_meant_for_reading_starts_nothing(
    make_host: Callable[..., Host], path: str
) -> None:
    """Spark makes these directories when it reads what is not there."""
    with pytest.raises(NotFoundError, match="no query has its checkpoint here"):
        make_host().start("", path)


def test_a_query_inside_another_is_refused(make_host: Callable[..., Host]) -> None:
    """A reader's directory inside is not: it is shown the query."""
    FakeJvm(make_host()).run_batch(0)
    host = make_host()
    with pytest.raises(ConfigError, match="lies inside that of another"):
        host.start("", "orders/inner")
    assert host.start("", "orders/state/0/7").root == "orders"


def test_the_ends_of_runs_let_claims_go(make_host: Callable[..., Host]) -> None:
    """What is known of them stays."""
    jvm = FakeJvm(make_host())
    jvm.run_batch(0)
    assert jvm.host.end(jvm.key, jvm.claim) == "orders: the run ended at checkpoint 2"
    assert [status.active for status in jvm.host.statuses()] == [False]
    with pytest.raises(MisuseError, match="no such query was started"):
        jvm.host.commit(jvm.key, jvm.claim, 1, "")


def test_names_that_change_are_a_warning(make_host: Callable[..., Host]) -> None:
    """A source more or less between two checkpoints."""
    jvm = FakeJvm(make_host())
    jvm.run_batch(0)
    jvm.write("offsets/1", b"v1\n{}\n1\n2")
    jvm.host.intent(jvm.key, jvm.claim, 1, jvm.tell())
    jvm.write("commits/1", b"v1\n{}")
    jvm.host.commit(jvm.key, jvm.claim, 1, jvm.tell())
    (status,) = jvm.host.statuses()
    assert status.warnings == ("batch 1 has other sources than before: ('0',) → ('0', '1')",)


def test_a_start_that_was_decided_on_another_head_is_refused(
    make_host: Callable[..., Host],
) -> None:
    """Another driver reset the query, and ran its batches, between the decision and the claim."""
    jvm = FakeJvm(make_host())
    jvm.host.expect("", "orders", Described(pipeline_hash=2, notes={}))
    jvm.start()
    jvm.run_batch(0)
    late = make_host()
    late.expect("", "orders", Described(pipeline_hash=1, notes={}))
    with pytest.raises(ConfigMismatchError, match="different query"):
        FakeJvm(late)
    jvm.run_batch(1)  # nothing was claimed
    late.expect("", "orders", Described(pipeline_hash=1, notes={}, compared=2))
    assert FakeJvm(late).host.statuses()[0].batch == 1
