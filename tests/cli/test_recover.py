"""`recover`: what a start would take, and why nothing newer; it changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from holdfast.chain.claim import reserve
from holdfast.layout import Keys
from holdfast.objectstore import LocalStore
from tests.chain.support import chain, damage
from tests.cli.support import contents, holdfast

if TYPE_CHECKING:
    from pathlib import Path

ORDERS = Keys.of_query("orders")


def test_the_newest_is_taken_if_it_is_valid(url: str) -> None:
    """With what runs next."""
    ran = holdfast("recover", f"{url}/orders", "--json")
    found = ran.json()
    assert (ran.code, found["chosen"], found["highest"]) == (0, 7, 7)
    assert (found["batch"], found["next_batch"], found["skipped"]) == (5, 6, [])


def test_the_plan_that_a_start_would_show_is_named(url: str) -> None:
    """Batch 6 was planned by the driver that is gone."""
    plans = holdfast("recover", f"{url}/orders", "--json").json()["plans"]
    assert plans == [{"batch": 6, "intent": 8, "files": ["offsets/6"], "shown": True}]
    assert "batch 6 is shown" in holdfast("recover", f"{url}/orders").out


def test_what_a_claim_then_does_is_what_was_said(root: Path) -> None:
    """The report is no guess."""
    said = holdfast("recover", f"{root.as_uri()}/eu/clicks", "--json").json()
    head = chain(LocalStore(root), "next", "eu/clicks").claim().head
    assert head.batch == said["batch"]
    assert sorted(head.plans) == [plan["batch"] for plan in said["plans"]]


def test_each_newer_one_is_named_with_its_reason(url: str) -> None:
    """And the exit code is 1, so that a script can tell."""
    ran = holdfast("recover", f"{url}/eu/clicks", "--json")
    found = ran.json()
    assert (ran.code, found["chosen"], found["examined"]) == (1, 3, 3)
    assert [skipped["number"] for skipped in found["skipped"]] == [5, 4]
    text = holdfast("recover", f"{url}/eu/clicks").out
    assert "Passed over: 2 newer checkpoints" in text
    assert "5: manifest 5 " in text


def test_later_plans_are_carried(url: str) -> None:
    """Only the next batch's plan is shown."""
    text = holdfast("recover", f"{url}/eu/clicks").out
    assert "batch 2 is shown" in text
    assert "batch 3 is carried" in text


def test_deep_finds_what_a_look_does_not(root: Path) -> None:
    """A flipped bit in a pack; 3 is the newest that does not need it."""
    damage(LocalStore(root), ORDERS.state(4))
    assert holdfast("recover", f"{root.as_uri()}/orders", "--json").json()["chosen"] == 7
    found = holdfast("recover", f"{root.as_uri()}/orders", "--deep", "--json").json()
    assert (found["chosen"], found["deep"]) == (3, True)


def test_nothing_valid_is_an_error_and_no_fresh_start(root: Path) -> None:
    """One sentence, a hint, exit code 1."""
    for number in range(1, 8):
        damage(LocalStore(root), ORDERS.manifest(number))
    ran = holdfast("recover", f"{root.as_uri()}/orders")
    assert (ran.code, ran.out) == (1, "")
    assert "checkpoints exist, and none is valid" in ran.err
    assert "hint: " in ran.err


def test_a_plan_that_cannot_be_read_is_an_error(root: Path) -> None:
    """A start would refuse it too."""
    damage(LocalStore(root), ORDERS.intent(8))
    ran = holdfast("recover", f"{root.as_uri()}/orders")
    assert (ran.code, "the plan of a batch that may have run is lost" in ran.err) == (1, True)


def test_a_start_that_was_cut_short_has_no_checkpoint_yet(root: Path) -> None:
    """Its first intent is there, and nothing else."""
    reserve(chain(LocalStore(root), query="young").context, 1)
    ran = holdfast("recover", f"{root.as_uri()}/young")
    assert (ran.code, "the next start begins at batch 0" in ran.err) == (3, True)


def test_it_changes_nothing(root: Path) -> None:
    """Not one byte, though it does all that a start does before it claims."""
    before = contents(root)
    holdfast("recover", f"{root.as_uri()}/eu/clicks", "--deep")
    assert contents(root) == before


@pytest.mark.parametrize(("query", "chosen"), [("plain", 4), ("flat", 2)])
def test_a_plain_checkpoint_store_is_walked_too(url: str, query: str, chosen: int) -> None:
    """By the seed's rules."""
    ran = holdfast("recover", f"{url}/{query}", "--json")
    assert (ran.code, ran.json()["chosen"], ran.json()["plans"]) == (0, chosen, [])


def test_a_damaged_plain_checkpoint_is_passed_over(root: Path) -> None:
    """With its reason."""
    damage(LocalStore(root), Keys("plain/").state(4))
    ran = holdfast("recover", f"{root.as_uri()}/plain")
    assert ran.code == 1
    assert "checkpoint 3 is what a start of plain would take" in ran.out
    assert "4: sidecar checksum mismatch" in ran.out
