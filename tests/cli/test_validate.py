"""`validate`: what is whole and what is not, and the exit code tells."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from holdfast.chain.history import Validator
from holdfast.layout import Keys
from holdfast.objectstore import LocalStore, MemoryStore, Meter, MeteredStore
from tests.chain.support import chain, damage, plan, run
from tests.cli.support import holdfast

if TYPE_CHECKING:
    from pathlib import Path

ORDERS = Keys.of_query("orders")


def test_a_whole_chain_is_valid(url: str) -> None:
    """Every checkpoint, the tag and the clone's ref, newest first."""
    ran = holdfast("validate", f"{url}/orders", "--json")
    report = ran.json()
    assert (ran.code, report["valid"], report["deep"]) == (0, True, True)
    assert [verdict["number"] for verdict in report["checkpoints"]] == [7, 6, 5, 4, 3, 2, 1]
    assert [(ref["ref"], ref["name"]) for ref in report["refs"]] == [
        ("clone", "copy of orders"),
        ("tag", "v1"),
    ]


def test_the_same_for_people(url: str) -> None:
    """One line sums up."""
    text = holdfast("validate", f"{url}/orders").out
    assert "valid: 7 checkpoints and 2 refs (every byte was compared" in text


def test_a_damaged_manifest_makes_exit_code_1(url: str) -> None:
    """Each invalid one is named, with why; the others stay valid."""
    ran = holdfast("validate", f"{url}/eu/clicks", "--json")
    valid = {verdict["number"]: verdict["valid"] for verdict in ran.json()["checkpoints"]}
    assert (ran.code, valid) == (1, {5: False, 4: False, 3: True, 2: True, 1: True})
    text = holdfast("validate", f"{url}/eu/clicks").out
    assert "INVALID: checkpoints 4-5" in text
    assert f"holdfast recover {url}/eu/clicks" in text


def test_a_flipped_bit_in_a_pack_is_found_by_reading(root: Path) -> None:
    """In every checkpoint that needs the pack, and in the clone that holds it."""
    damage(LocalStore(root), ORDERS.state(4))
    ran = holdfast("validate", f"{root.as_uri()}/orders", "--json")
    bad = [verdict["number"] for verdict in ran.json()["checkpoints"] if not verdict["valid"]]
    assert (ran.code, bad) == (1, [7, 6, 5, 4])
    assert [ref["valid"] for ref in ran.json()["refs"]] == [False, True]


def test_shallow_looks_up_and_does_not_read(root: Path) -> None:
    """A flipped bit stays unseen, a missing object does not."""
    store = LocalStore(root)
    damage(store, ORDERS.state(4))
    ran = holdfast("validate", f"{root.as_uri()}/orders", "--shallow", "--json")
    assert (ran.code, ran.json()["bytes_read"]) == (0, 0)
    store.delete([ORDERS.state(4)])
    assert holdfast("validate", f"{root.as_uri()}/orders", "--shallow").code == 1


def test_a_damaged_tag_is_invalid_by_name(root: Path) -> None:
    """Retention would refuse to run beside it."""
    damage(LocalStore(root), ORDERS.tag("v1", 1))
    ran = holdfast("validate", f"{root.as_uri()}/orders", "--json")
    assert ran.code == 1
    assert [ref["name"] for ref in ran.json()["refs"] if not ref["valid"]] == ["v1"]
    assert "INVALID: tag v1" in holdfast("validate", f"{root.as_uri()}/orders").out


@pytest.mark.parametrize(("chosen", "checkpoints", "refs"), [("3", 1, 0), ("v1", 0, 1)])
def test_one_checkpoint_or_tag_can_be_asked_for(
    url: str, chosen: str, checkpoints: int, refs: int
) -> None:
    """Then only that one is read."""
    report = holdfast("validate", f"{url}/orders", "--checkpoint", chosen, "--json").json()
    assert (len(report["checkpoints"]), len(report["refs"])) == (checkpoints, refs)


def test_a_number_that_is_not_there_is_not_found(url: str) -> None:
    """That is another thing than being invalid."""
    assert holdfast("validate", f"{url}/orders", "--checkpoint", "99").code == 3


def test_what_checkpoints_share_is_read_once() -> None:
    """Ten checkpoints that need the same packs cost each pack one request."""
    store = MemoryStore()
    run(chain(store, inline_bytes_max=0).claim(), 10)
    meter = Meter()
    validator = Validator(chain(MeteredStore(store, meter)).context)
    assert all(validator.check(number).valid for number in range(1, 12))
    manifests, packs = 11, 10
    assert meter.usage().requests["get"] == manifests + packs


@pytest.mark.parametrize(("query", "count"), [("plain", 4), ("flat", 2)])
def test_a_plain_checkpoint_store_is_validated(url: str, query: str, count: int) -> None:
    """Both layouts."""
    ran = holdfast("validate", f"{url}/{query}", "--json")
    assert (ran.code, len(ran.json()["checkpoints"])) == (0, count)


def test_a_damaged_sidecar_is_invalid(root: Path) -> None:
    """Its checksum is in the manifest; a look alone does not tell."""
    damage(LocalStore(root), Keys("plain/").state(2))
    ran = holdfast("validate", f"{root.as_uri()}/plain", "--json")
    bad = [verdict["number"] for verdict in ran.json()["checkpoints"] if not verdict["valid"]]
    assert (ran.code, bad) == (1, [2])
    assert holdfast("validate", f"{root.as_uri()}/plain", "--shallow").code == 0


def test_one_plain_checkpoint_can_be_asked_for(url: str) -> None:
    """By its number; there are no tags."""
    report = holdfast("validate", f"{url}/plain", "--checkpoint", "2", "--json").json()
    assert [verdict["number"] for verdict in report["checkpoints"]] == [2]
    assert holdfast("validate", f"{url}/plain", "--checkpoint", "v1").code == 2
    assert holdfast("validate", f"{url}/plain", "--checkpoint", "77").code == 3


@pytest.mark.parametrize("sign", ["the next batch's plan", "latest.json"])
def test_a_deleted_newest_manifest_is_missed(root: Path, sign: str) -> None:
    """Where something was written after it; without a sign it is like one that never was."""
    store = LocalStore(root)
    writer = chain(store, query="new", hint_every=1).claim()
    committed = run(writer, 2)
    if sign == "latest.json":
        writer.write_hint()
    else:
        writer.intent(2, plan(2))
    assert holdfast("validate", f"{root.as_uri()}/new").code == 0
    assert holdfast("recover", f"{root.as_uri()}/new").code == 0
    store.delete([Keys.of_query("new").manifest(committed.number)])
    ran = holdfast("validate", f"{root.as_uri()}/new", "--json")
    assert (ran.code, ran.json()["checkpoints"][0]["number"]) == (1, committed.number)
    assert "missing" in ran.json()["checkpoints"][0]["issues"][0]["message"]
    ran = holdfast("recover", f"{root.as_uri()}/new", "--json")
    assert (ran.code, ran.json()["skipped"][0]["number"]) == (1, committed.number)
