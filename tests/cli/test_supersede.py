"""`rollback` and `rm`: whom they stop, what they undo, and that a dry run does nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from holdfast.errors import FencedError
from holdfast.layout import Keys
from holdfast.objectstore import LocalStore
from tests.chain.support import chain, damage, run
from tests.cli.support import contents, holdfast

if TYPE_CHECKING:
    from pathlib import Path

ORDERS = Keys.of_query("orders")


@pytest.fixture
def orders(root: Path) -> str:
    return f"{root.as_uri()}/orders"


def test_a_rollback_is_a_dry_run_first(root: Path, orders: str) -> None:
    """It says where to, and what runs again."""
    before = contents(root)
    report = holdfast("rollback", orders, "--to", "3", "--json").json()
    assert (report["dry_run"], report["target"], report["number"]) == (True, 3, None)
    assert (report["batch"], report["next_batch"], report["undone_to"]) == (1, 2, 5)
    assert "runs again  batches 2 to 5" in holdfast("rollback", orders, "--to", "3").out
    assert contents(root) == before


def test_a_rollback_says_whom_it_will_fence(orders: str) -> None:
    """Host, application, process, when it claimed and when it wrote last."""
    text = holdfast("rollback", orders, "--to", "3").out
    assert "Would be fenced" in text
    assert "app-one on host-one, pid 1" in text
    assert "claimed     2023-11-14 22:13:20 UTC" in text


def test_a_rollback_goes_back_and_keeps_history(orders: str) -> None:
    """The next start takes the old state; the plan of batch 6 is dropped."""
    report = holdfast("rollback", orders, "--to", "3", "--yes", "--json").json()
    assert (report["dry_run"], report["number"], report["repaired"]) == (False, 9, False)
    found = holdfast("recover", orders, "--json").json()
    assert (found["chosen"], found["kind"], found["batch"]) == (9, "rollback", 1)
    assert found["plans"] == []
    assert len(holdfast("ls", orders, "--json").json()["checkpoints"]) == 9


def test_a_rollback_to_a_tag(orders: str) -> None:
    """Though its manifest has been retired."""
    holdfast("prune", orders, "--keep", "1", "--yes")
    report = holdfast("rollback", orders, "--to", "v1", "--yes", "--json").json()
    assert (report["target"], report["tag"], report["batch"]) == (3, "v1", 1)
    assert holdfast("validate", orders).code == 0


def test_a_driver_that_is_rolled_back_learns_by_which_command(root: Path) -> None:
    """The fenced job's log names the CLI, its user and its host."""
    writer = chain(LocalStore(root), query="live").claim()
    run(writer, 2)
    holdfast("rollback", f"{root.as_uri()}/live", "--to", "2", "--yes")
    with pytest.raises(FencedError, match="holdfast rollback"):
        run(writer)


def test_going_back_to_what_is_not_whole_is_refused(root: Path, orders: str) -> None:
    """A look would not have told; nothing is changed."""
    damage(LocalStore(root), ORDERS.state(4))
    before = contents(root)
    ran = holdfast("rollback", orders, "--to", "5", "--yes")
    assert (ran.code, "there is no going back to it" in ran.err) == (1, True)
    assert contents(root) == before


def test_a_chain_that_cannot_be_started_is_repaired_by_a_rollback(root: Path, orders: str) -> None:
    """An earlier rollback's manifest cannot be read, and walking back over it would undo it."""
    holdfast("rollback", orders, "--to", "5", "--yes")
    damage(LocalStore(root), ORDERS.manifest(9))
    assert holdfast("recover", orders).code == 1
    report = holdfast("rollback", orders, "--to", "3", "--yes", "--json").json()
    assert report["repaired"]
    assert holdfast("recover", orders).code == 0


def test_rm_is_a_dry_run_first(root: Path) -> None:
    """It says how much would go, and whom it would fence."""
    before = contents(root)
    ran = holdfast("rm", f"{root.as_uri()}/eu/clicks")
    assert (ran.code, "would delete eu/clicks: 10 objects" in ran.out) == (0, True)
    assert "app-two on host-two" in ran.out
    assert contents(root) == before


def test_rm_deletes_the_query(root: Path) -> None:
    """Only the fences of claims stay, and `ls` says what they are."""
    url = f"{root.as_uri()}/eu/clicks"
    report = holdfast("rm", url, "--yes", "--json").json()
    assert (report["dry_run"], report["objects"]) == (False, 10)
    clicks, claims = Keys.of_query("eu/clicks"), (1, 4, 5, 6)
    fences = [*map(clicks.intent, claims), *map(clicks.manifest, claims)]
    assert [key for key in contents(root) if key.startswith("eu/")] == fences
    lines = holdfast("ls", root.as_uri(), "--json").json()["queries"]
    assert {line["query"]: line["state"] for line in lines}["eu/clicks"] == "removed"


def test_purge_leaves_one_object(root: Path) -> None:
    """For a query that no driver can be running; a new one counts on from its number."""
    holdfast("rm", f"{root.as_uri()}/eu/clicks", "--purge", "--yes")
    left = [key for key in contents(root) if key.startswith("eu/")]
    assert left == [Keys.of_query("eu/clicks").manifest(6)]


def test_rm_refuses_while_clones_need_the_objects(root: Path, orders: str) -> None:
    """In the dry run already."""
    ran = holdfast("rm", orders)
    assert (ran.code, "copy of orders" in ran.err) == (2, True)
    holdfast("rm", f"{root.as_uri()}/copy of orders", "--yes")
    assert holdfast("rm", orders, "--yes").code == 0


def test_rm_leaves_other_queries_below_the_name(root: Path) -> None:
    """`eu` and `eu/clicks` live side by side."""
    run(chain(LocalStore(root), query="eu").claim(), 1)
    before = [key for key in contents(root) if key.startswith("eu/clicks/")]
    report = holdfast("rm", f"{root.as_uri()}/eu", "--yes", "--purge", "--json").json()
    assert report["nested"] == ["eu/clicks"]
    after = [key for key in contents(root) if key.startswith("eu/")]
    assert after == [*before, Keys.of_query("eu").manifest(3)]


def test_a_chain_with_no_readable_manifest_can_still_be_removed(root: Path) -> None:
    """Nobody can be named then."""
    for number in range(1, 4):
        damage(LocalStore(root), Keys.of_query("eu/clicks").manifest(number))
    ran = holdfast("rm", f"{root.as_uri()}/eu/clicks", "--yes")
    assert (ran.code, "no claim can be read" in ran.out) == (0, True)
