"""`prune` and `orphans`: a dry run says exactly what `--yes` does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from holdfast.cli import target
from holdfast.errors import DeleteError
from holdfast.layout import Keys
from holdfast.objectstore import LocalStore
from holdfast.testing import Fault, FaultyStore
from tests.chain.support import chain, run
from tests.cli.support import contents, holdfast

if TYPE_CHECKING:
    from pathlib import Path

ORDERS = Keys.of_query("orders")


@pytest.mark.parametrize("command", [("prune", "--keep", "1"), ("orphans",)])
@pytest.mark.parametrize("query", ["orders", "plain", "flat"])
def test_a_dry_run_changes_nothing(root: Path, command: tuple[str, ...], query: str) -> None:
    """Not one byte."""
    before = contents(root)
    ran = holdfast(command[0], f"{root.as_uri()}/{query}", *command[1:], "--json")
    assert (ran.code, ran.json()["dry_run"]) == (0, True)
    assert contents(root) == before


@pytest.mark.parametrize("query", ["orders", "plain", "flat"])
def test_prune_does_what_the_dry_run_said(root: Path, query: str) -> None:
    """The two reports differ in one word."""
    args = ("prune", f"{root.as_uri()}/{query}", "--keep", "1", "--json")
    said = holdfast(*args).json()
    done = holdfast(*args, "--yes").json()
    assert {**said, "dry_run": False} == done
    assert done["checkpoints"]


def test_pruned_checkpoints_are_gone_and_the_rest_is_valid(root: Path) -> None:
    """The tag holds what it held."""
    url = f"{root.as_uri()}/orders"
    assert holdfast("prune", url, "--keep", "1", "--yes").code == 0
    listing = holdfast("ls", url, "--json").json()
    assert [line["number"] for line in listing["checkpoints"]] == [7, 6, 5]
    assert [(ref["name"], ref["retired"]) for ref in listing["refs"]] == [
        ("copy of orders", False),
        ("v1", True),
    ]
    assert holdfast("validate", url).code == 0


def test_prune_says_what_stays_against_the_count(url: str) -> None:
    """5 is the full one that 7 builds on, and a tag is a promise."""
    text = holdfast("prune", f"{url}/orders", "--keep", "1").out
    assert "checkpoints  2-4" in text
    assert "checkpoints 5-6: the kept ones build on them" in text
    assert "tag v1: holds checkpoint 3" in text
    assert "Nothing was changed: add --yes to do it." in text


def test_nothing_to_prune_is_said_so(url: str) -> None:
    """And nobody is asked for --yes."""
    text = holdfast("prune", f"{url}/orders", "--keep", "50").out
    assert text.startswith("nothing to delete")
    assert "--yes" not in text


def test_keep_is_at_least_one(url: str) -> None:
    """To delete a query is another command."""
    assert holdfast("prune", f"{url}/orders", "--keep", "0").code == 2


def test_orphans_of_a_chain_are_what_no_checkpoint_names(root: Path) -> None:
    """A large file of an earlier claim; one of the running claim may yet be named."""
    store = LocalStore(root)
    run(chain(store, "two").claim(), 1)
    store.put(ORDERS.file(1, "abandoned"), b"12345")
    store.put(ORDERS.file(8, "in flight"), b"12345")
    args = ("orphans", f"{root.as_uri()}/orders", "--json")
    assert holdfast(*args).json()["objects"] == [ORDERS.file(1, "abandoned")]
    done = holdfast(*args, "--yes").json()
    assert (done["bytes_freed"], done["checkpoints"]) == (5, [])
    assert ORDERS.file(1, "abandoned") not in contents(root)
    assert ORDERS.file(8, "in flight") in contents(root)


def test_orphans_of_a_plain_store_are_old_sidecars_without_a_manifest(root: Path) -> None:
    """A young one may belong to a save under way."""
    keys = Keys("plain/")
    LocalStore(root).put(keys.state(10), b"young")
    args = ("orphans", f"{root.as_uri()}/plain", "--json")
    assert holdfast(*args).json()["objects"] == [keys.state(9)]
    assert holdfast(*args, "--yes").json()["objects"] == [keys.state(9)]
    assert keys.state(9) not in contents(root)
    assert keys.state(10) in contents(root)


def test_what_could_not_be_deleted_is_named(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And is not counted as freed; exit code 3."""
    key = Keys("plain/").state(1)
    fault = Fault(error=DeleteError({key: "held by a lock"}), verb="delete", key="*.bin", nth=0)
    store = FaultyStore(LocalStore(root), [fault])
    monkeypatch.setattr(target, "open_store", lambda _: store)
    args = ("prune", "plain", "--keep", "2", "--yes", "--json")
    ran = holdfast(*args, HOLDFAST_STORE=root.as_uri())
    assert (ran.code, ran.json()["failed"]) == (3, [{"what": key, "reason": "held by a lock"}])
    assert key not in ran.json()["objects"]


def test_the_last_valid_plain_checkpoint_stays_whatever_the_count(root: Path) -> None:
    """And is named with the reason."""
    LocalStore(root).delete([Keys("plain/").state(4)])
    args = ("prune", f"{root.as_uri()}/plain", "--keep", "1", "--yes", "--json")
    done = holdfast(*args).json()
    assert done["checkpoints"] == [1, 2]
    assert {part["what"]: part["reason"] for part in done["protected"]} == {
        "checkpoint 3": "the newest valid one"
    }
