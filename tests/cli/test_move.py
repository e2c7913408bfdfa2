"""`import` and `export`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from holdfast.objectstore import LocalStore
from tests.chain.support import chain, plan
from tests.cli.support import contents, holdfast
from tests.moving.support import LOCATION, QUERY_ID, needed, write_plan, write_stock

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def stock(tmp_path: Path) -> Path:
    return write_stock(tmp_path / "stock", batches=2, unfinished=True)


@pytest.fixture
def moved(root: Path, stock: Path) -> str:
    """The URL of a query that was imported."""
    url = f"{root.as_uri()}/moved"
    assert holdfast("import", str(stock), url).code == 0
    return url


def test_an_import_says_what_there_is_now(root: Path, stock: Path) -> None:
    """How far it got, what comes next, and the line for the job."""
    ran = holdfast("import", str(stock), f"{root.as_uri()}/new", "--json")
    report = ran.json()
    assert (ran.code, report["batch"], report["next_batch"], report["planned"]) == (0, 1, 2, 2)
    assert (report["location"], report["query_id"]) == ("holdfast:///new", QUERY_ID)
    assert report["unfinished"] == 2
    text = holdfast("import", str(stock), f"{root.as_uri()}/again").out
    assert '.option("checkpointLocation", "holdfast:///again")' in text
    assert "2, as it was planned before" in text
    assert "2 state files of the batch that was not committed" in text


def test_an_imported_query_is_shown_as_such(moved: str) -> None:
    """`show` names where it came from; `validate` finds it whole."""
    text = holdfast("show", moved).out
    assert "brought in from a checkpoint that Spark wrote" in text
    assert "imported from" in text
    assert holdfast("validate", moved).code == 0


def test_the_jobs_name_of_the_store_can_be_told(root: Path, stock: Path) -> None:
    """Absolute paths inside the checkpoint begin with it."""
    url = f"{root.as_uri()}/new"
    report = holdfast("import", str(stock), url, "--store-name", "prod", "--json").json()
    assert report["location"] == "holdfast://prod/new"
    body = holdfast("show", url, "--cat", "state/0/_metadata/v2/0").out
    assert '"holdfast://prod/new/state/0/_stateSchema/default/0_a"' in body
    assert holdfast("import", str(stock), url, "--store-name", "a b").code == 2


def test_an_import_by_name_goes_to_the_default_store(root: Path, stock: Path) -> None:
    """As every other command."""
    ran = holdfast("import", str(stock), LOCATION + "-2", HOLDFAST_STORE=root.as_uri())
    assert (ran.code, (root / "orders-2/manifests/manifest-000001.json").exists()) == (0, True)


def test_a_store_that_was_never_used_must_be_named(tmp_path: Path, stock: Path) -> None:
    """Or the query's name would be guessed; the hint is a command that helps."""
    fresh = tmp_path / "fresh"
    ran = holdfast("import", str(stock), f"{fresh.as_uri()}/orders")
    assert (ran.code, ran.out) == (2, "")
    assert f"holdfast certify '{fresh.as_uri()}'" in ran.err
    ran = holdfast("import", str(stock), "orders", HOLDFAST_STORE=fresh.as_uri())
    assert ran.code == 0
    assert holdfast("import", str(stock), f"{fresh.as_uri()}/other").code == 0


@pytest.mark.parametrize(
    ("query", "code", "sentence"),
    [
        ("/orders", 3, "a query of this name exists"),
        ("/plain", 3, "a checkpoint store has this name"),
        ("", 2, "name the new query"),
    ],
)
def test_an_import_needs_a_new_name(
    root: Path, stock: Path, query: str, code: int, sentence: str
) -> None:
    """Nothing that is there is touched."""
    before = contents(root)
    ran = holdfast("import", str(stock), f"{root.as_uri()}{query}")
    assert (ran.code, ran.out) == (code, "")
    assert sentence in ran.err
    assert contents(root) == before


def test_a_name_that_was_removed_is_free_again(root: Path, stock: Path) -> None:
    """What is imported counts on from the removal, so a driver that is asleep stays fenced."""
    url = f"{root.as_uri()}/gone"
    assert holdfast("import", str(stock), url).code == 0
    ran = holdfast("import", str(stock), url)
    assert (ran.code, "holdfast rm" in ran.err) == (3, True)


def test_a_checkpoint_that_is_not_whole_is_refused(root: Path, stock: Path) -> None:
    """With the reason; the store is as it was."""
    before = contents(root)
    write_plan(stock, 9)
    ran = holdfast("import", str(stock), f"{root.as_uri()}/new")
    assert (ran.code, ran.out) == (1, "")
    assert "the offsets go on to batch 9" in ran.err
    assert "asyncProgressTracking" in ran.err
    assert contents(root) == before


def test_an_export_is_a_checkpoint_again(moved: str, stock: Path, tmp_path: Path) -> None:
    """With the plan of the batch that was begun, if no checkpoint was chosen."""
    out, old = tmp_path / "out", tmp_path / "old"
    report = holdfast("export", moved, str(out), "--json").json()
    assert (report["batch"], report["planned"], report["location"]) == (1, 2, f"file://{out}")
    assert needed(out)["offsets/2"] == needed(stock)["offsets/2"]
    report = holdfast("export", moved, old.as_uri(), "--checkpoint", "1", "--json").json()
    assert (report["checkpoint"], report["planned"]) == (1, None)
    assert "offsets/2" not in needed(old)


def test_an_export_tells_how_to_go_on(moved: str, tmp_path: Path) -> None:
    """The line for the job."""
    text = holdfast("export", moved, str(tmp_path / "out")).out
    assert f'.option("checkpointLocation", "file://{tmp_path}/out")' in text


def test_an_export_shows_the_plan_of_a_driver_that_died(moved: str, tmp_path: Path) -> None:
    """It is in an intent only, and may have reached the sink."""
    root = LocalStore(tmp_path / "store")
    writer = chain(root, query="moved").claim()
    writer.commit(2, [])
    writer.intent(3, plan(3))
    assert holdfast("export", moved, str(tmp_path / "out"), "--json").json()["planned"] == 3
    assert (tmp_path / "out/offsets/3").read_text() == "plan of 3"


def test_the_place_that_the_job_will_name_can_be_told(moved: str, tmp_path: Path) -> None:
    """Where another scheme or a mount leads there."""
    location = ("--location", "s3://bucket/out")
    report = holdfast("export", moved, str(tmp_path / "out"), *location, "--json").json()
    assert report["location"] == "s3://bucket/out"
    body = (tmp_path / "out/state/0/_metadata/v2/0").read_text()
    assert '"s3://bucket/out/state/0/_stateSchema/default/0_a"' in body


def test_an_export_never_overwrites(moved: str, stock: Path) -> None:
    """The destination must be new."""
    before = needed(stock)
    ran = holdfast("export", moved, str(stock))
    assert (ran.code, ran.out) == (3, "")
    assert "the destination is not empty" in ran.err
    assert needed(stock) == before


def test_only_a_chain_is_exported(url: str, tmp_path: Path) -> None:
    """A plain checkpoint store holds no files of Spark's, and neither does any other chain."""
    assert holdfast("export", f"{url}/plain", str(tmp_path / "out")).code == 2
    ran = holdfast("export", f"{url}/orders", str(tmp_path / "out"))
    assert (ran.code, "no files of a Spark query" in ran.err) == (3, True)
    assert list(tmp_path.iterdir()) == []
