"""`tag` and `clone`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.support import contents, holdfast

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def orders(root: Path) -> str:
    return f"{root.as_uri()}/orders"


def tags(url: str) -> dict[str, int]:
    refs = holdfast("ls", url, "--json").json()["refs"]
    return {ref["name"]: ref["checkpoint"] for ref in refs if ref["kind"] == "tag"}


def test_a_tag_holds_what_a_start_would_take(orders: str) -> None:
    """Without a number."""
    ran = holdfast("tag", orders, "now", "--json")
    assert (ran.code, ran.json()["checkpoint"], ran.json()["batch"]) == (0, 7, 5)
    assert tags(orders) == {"now": 7, "v1": 3}


def test_a_tag_can_hold_any_checkpoint(orders: str) -> None:
    """By number, or by another tag's name."""
    assert "holds checkpoint 2, batch 0" in holdfast("tag", orders, "two", "-c", "2").out
    assert holdfast("tag", orders, "also v1", "-c", "v1").code == 0
    assert tags(orders) == {"two": 2, "also v1": 3, "v1": 3}


def test_a_name_is_one_checkpoints(orders: str) -> None:
    """It is never moved silently."""
    assert holdfast("tag", orders, "v1", "-c", "2").code == 3
    assert tags(orders) == {"v1": 3}


def test_a_number_is_no_name_for_a_tag(orders: str) -> None:
    """Whoever rolls back to 12 means the checkpoint."""
    ran = holdfast("tag", orders, "12")
    assert (ran.code, '"v12"' in ran.err) == (2, True)


def test_deleting_a_tag_is_a_dry_run_first(root: Path, orders: str) -> None:
    """It says what the tag holds."""
    before = contents(root)
    ran = holdfast("tag", orders, "v1", "--delete")
    assert (ran.code, "would delete tag v1: checkpoint 3" in ran.out) == (0, True)
    assert contents(root) == before


def test_deleting_a_tag_with_yes(orders: str) -> None:
    """Then it is gone."""
    report = holdfast("tag", orders, "v1", "--delete", "--yes", "--json").json()
    assert (report["deleted"], report["dry_run"]) == (True, False)
    assert tags(orders) == {}


def test_the_last_hold_on_a_checkpoint_is_told(orders: str) -> None:
    """Deleting this tag deletes the state."""
    holdfast("prune", orders, "--keep", "1", "--yes")
    text = holdfast("tag", orders, "v1", "--delete").out
    assert "nothing else holds this checkpoint" in text


def test_deleting_a_tag_that_is_not_there_is_not_found(orders: str) -> None:
    """A typing error must not look like success."""
    ran = holdfast("tag", orders, "v2", "--delete", "--yes")
    assert (ran.code, "there is no such tag" in ran.err) == (3, True)


def test_a_clone_begins_with_this_ones_state(root: Path, orders: str) -> None:
    """Nothing is copied; its first checkpoint is valid."""
    ran = holdfast("clone", orders, "try/out", "--json")
    report = ran.json()
    assert (ran.code, report["checkpoint"], report["next_batch"]) == (0, 7, 6)
    assert holdfast("validate", f"{root.as_uri()}/try/out").code == 0
    files = holdfast("show", f"{root.as_uri()}/try/out", "--cat", "offsets/5")
    assert files.out == "plan of 5"


@pytest.mark.parametrize(("chosen", "batch"), [("4", 2), ("v1", 1)])
def test_a_clone_can_begin_anywhere(orders: str, chosen: str, batch: int) -> None:
    """At a number or a tag."""
    report = holdfast("clone", orders, "other", "-c", chosen, "--json").json()
    assert report["batch"] == batch


def test_a_clone_is_told_how_to_start(orders: str) -> None:
    """The line for the job."""
    assert '"holdfast:///other"' in holdfast("clone", orders, "other").out


def test_a_clone_never_overwrites_a_query(root: Path, orders: str) -> None:
    """Nothing of it is touched."""
    before = contents(root)
    assert holdfast("clone", orders, "eu/clicks").code == 3
    assert contents(root) == before


def test_a_clone_lives_in_the_same_store(orders: str) -> None:
    """It names the other's objects."""
    assert holdfast("clone", orders, "s3://elsewhere/orders").code == 2


@pytest.mark.parametrize("args", [("tag", "x"), ("clone", "x"), ("rollback", "--to", "1"), ("rm",)])
@pytest.mark.parametrize("query", ["plain", "flat"])
def test_a_plain_checkpoint_store_is_refused_with_a_sentence(
    root: Path, query: str, args: tuple[str, ...]
) -> None:
    """It has no claims, so no one could be fenced."""
    before = contents(root)
    ran = holdfast(args[0], f"{root.as_uri()}/{query}", *args[1:])
    assert (ran.code, ran.out) == (2, "")
    assert "this is a plain checkpoint store" in ran.err
    assert contents(root) == before
