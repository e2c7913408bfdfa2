"""`ls`: what is there, at a glance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from holdfast.layout import Keys
from holdfast.objectstore import LocalStore
from tests.chain.support import chain, damage, run
from tests.cli.support import NOW_MS, certify, holdfast

if TYPE_CHECKING:
    from pathlib import Path


def queries(url: str) -> dict[str, dict[str, object]]:
    return {line["query"]: line for line in holdfast("ls", url, "--json").json()["queries"]}


def test_every_query_of_a_store_is_listed_by_name(url: str) -> None:
    """Chains, nested and removed ones, and plain checkpoint stores of both layouts."""
    names = ["copy of orders", "eu/clicks", "flat", "gone", "orders", "plain"]
    assert list(queries(url)) == names


def test_a_query_is_shown_by_its_newest_checkpoint(url: str) -> None:
    """Number, batch, time, size, files, writer, and how many refs hold it."""
    line = queries(url)["orders"]
    assert (line["checkpoint"], line["batch"], line["epoch"]) == (7, 5, 6)
    assert (line["time_ms"], line["time"]) == (NOW_MS, "2023-11-14T22:13:20.000Z")
    assert (line["files"], line["tags"], line["clones"]) == (19, 1, 1)
    assert line["writer"] == {"user": "", "host": "host-one", "application": "app-one", "pid": 1}


def test_states_tell_ok_removed_and_broken_apart(url: str) -> None:
    """So that one look shows what needs care."""
    states = {name: line["state"] for name, line in queries(url).items()}
    assert states["orders"] == states["plain"] == states["flat"] == "ok"
    assert (states["gone"], states["eu/clicks"]) == ("removed", "broken")


def test_a_broken_query_says_why_and_what_to_run(url: str) -> None:
    """The reason in full, and the command with the address to copy."""
    text = holdfast("ls", url).out
    assert "eu/clicks: checkpoint 5: manifest 5 " in text
    assert f"holdfast recover {url}/eu/clicks" in text


def test_a_query_that_began_again_after_its_removal_is_ok(root: Path) -> None:
    """Only the very last removal counts."""
    run(chain(LocalStore(root), query="gone").claim(), 1)
    assert queries(root.as_uri())["gone"]["state"] == "ok"


def test_a_query_without_a_batch_yet_is_not_removed(root: Path) -> None:
    """Two drivers began it, one after the other."""
    for name in ("one", "two"):
        chain(LocalStore(root), name, "young").claim()
    assert queries(root.as_uri())["young"]["state"] == "ok"


def test_a_chain_without_manifests_is_broken(root: Path) -> None:
    """A lifecycle rule deleted them; a start would refuse."""
    store = LocalStore(root)
    store.delete([Keys.of_query("orders").manifest(number) for number in range(1, 8)])
    line = queries(root.as_uri())["orders"]
    assert line["state"] == "broken"
    assert "its checkpoints were deleted" in str(line["problem"])


def test_a_query_of_a_newer_version_does_not_hide_the_others(root: Path) -> None:
    """It says what to install."""
    path = root / Keys.of_query("orders").manifest(7)
    path.write_bytes(path.read_bytes().replace(b'"format":1', b'"format":99'))
    found = queries(root.as_uri())
    assert "pip install" in str(found["orders"]["problem"])
    assert found["copy of orders"]["state"] == "ok"


def test_checkpoints_are_listed_newest_first(url: str) -> None:
    """With kind, form and what changed."""
    listing = holdfast("ls", f"{url}/orders", "--json").json()
    lines = listing["checkpoints"]
    assert [line["number"] for line in lines] == [7, 6, 5, 4, 3, 2, 1]
    assert (lines[0]["kind"], lines[0]["full"], lines[0]["files_added"]) == ("commit", False, 3)
    assert (lines[-1]["kind"], lines[-1]["full"], lines[-1]["batch"]) == ("claim", True, None)


def test_tags_and_clones_stand_beside_their_checkpoint(url: str) -> None:
    """The names that rollback and clone take."""
    lines = holdfast("ls", f"{url}/orders", "--json").json()["checkpoints"]
    held = {line["number"]: line["tags"] + line["clones"] for line in lines}
    assert (held[3], held[5], held[7]) == (["v1"], ["copy of orders"], [])


def test_a_limit_shows_the_newest_and_says_that_there_are_more(url: str) -> None:
    """Refs of those not shown are told below."""
    text = holdfast("ls", f"{url}/orders", "--limit", "2").out
    assert "older ones: --all shows them" in text
    assert "tag v1: checkpoint 3, batch 1" in text
    listing = holdfast("ls", f"{url}/orders", "--limit", "2", "--json").json()
    assert [line["number"] for line in listing["checkpoints"]] == [7, 6]
    assert listing["more"]


def test_all_overrides_the_limit(url: str) -> None:
    """Every checkpoint that is kept."""
    listing = holdfast("ls", f"{url}/orders", "--all", "--limit", "2", "--json").json()
    assert (len(listing["checkpoints"]), listing["more"]) == (7, False)


def test_a_checkpoint_that_cannot_be_read_is_a_line_with_its_problem(url: str) -> None:
    """It does not hide the others."""
    lines = holdfast("ls", f"{url}/eu/clicks", "--json").json()["checkpoints"]
    assert [bool(line["problem"]) for line in lines] == [True, True, False, False, False]


def test_a_ref_that_cannot_be_read_is_told_and_stops_nothing(root: Path) -> None:
    """Its name is still known by its key."""
    damage(LocalStore(root), Keys.of_query("orders").tag("v1", 1))
    ran = holdfast("ls", f"{root.as_uri()}/orders")
    assert ran.code == 0
    assert "tag v1: ref" in ran.out


@pytest.mark.parametrize(("query", "ids"), [("plain", [4, 3, 2, 1]), ("flat", [2, 1])])
def test_a_plain_checkpoint_store_is_listed_too(url: str, query: str, ids: list[int]) -> None:
    """Ids and epochs, as the seed's own crate wrote them."""
    listing = holdfast("ls", f"{url}/{query}", "--json").json()
    assert listing["format"] == query
    assert [line["number"] for line in listing["checkpoints"]] == ids
    assert [line["epoch"] for line in listing["checkpoints"]] == ids


def test_a_plain_checkpoint_without_its_sidecar_has_a_problem(root: Path) -> None:
    """It is looked up, though not read."""
    LocalStore(root).delete([Keys("plain/").state(4)])
    lines = holdfast("ls", f"{root.as_uri()}/plain", "--json").json()["checkpoints"]
    assert [bool(line["problem"]) for line in lines] == [True, False, False, False]
    assert queries(root.as_uri())["plain"]["state"] == "broken"


def test_a_folder_of_queries_lists_those_below_it(url: str) -> None:
    """Nested names are paths to people."""
    listing = holdfast("ls", f"{url}/eu", "--json").json()
    assert [line["query"] for line in listing["queries"]] == ["eu/clicks"]


def test_the_certificate_is_told(url: str, bare: Path) -> None:
    """A store without one has never been started on."""
    assert "certified 2023-11-14 22:13:20 UTC" in holdfast("ls", url).out
    assert holdfast("ls", bare.as_uri(), "--json").json()["certificate"] is None


def test_a_certificate_that_came_with_a_copy_is_told_apart(root: Path, tmp_path: Path) -> None:
    """It says nothing of the place where the copy is."""
    root.rename(tmp_path / "elsewhere")
    assert "certified elsewhere" in holdfast("ls", (tmp_path / "elsewhere").as_uri()).out


def test_a_store_inside_another_is_named_and_its_queries_are_its_own(root: Path) -> None:
    """A bucket is often listed from its top."""
    certify(root / "eu")
    listing = holdfast("ls", root.as_uri(), "--json").json()
    assert listing["stores"] == [f"{root.as_uri()}/eu"]
    assert "eu/clicks" not in {line["query"] for line in listing["queries"]}
    assert f"Stores inside this one\n{root.as_uri()}/eu" in holdfast("ls", root.as_uri()).out


def test_a_certified_store_without_queries_is_no_error(tmp_path: Path) -> None:
    """It is new."""
    certify(tmp_path)
    ran = holdfast("ls", tmp_path.as_uri())
    assert (ran.code, "no queries yet" in ran.out) == (0, True)


@pytest.mark.parametrize("url", ["memory:", "file:///nowhere/at/all"])
def test_a_place_with_nothing_in_it_is_not_found(url: str) -> None:
    """A typing error must not look like an empty store."""
    ran = holdfast("ls", url)
    assert (ran.code, ran.out) == (3, "")
    assert "nothing is stored here" in ran.err
