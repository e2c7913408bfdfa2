"""`show`: everything about one checkpoint."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import pytest

from tests.chain.support import chain, damage
from tests.cli.support import holdfast

if TYPE_CHECKING:
    from pathlib import Path

from holdfast.layout import Keys
from holdfast.manifest.facts import Facts
from holdfast.objectstore import LocalStore


def show(url: str, *args: str) -> Any:
    return holdfast("show", url, "--json", *args).json()


def test_without_a_number_it_is_the_one_that_a_start_would_take(url: str) -> None:
    """The newest valid one; what is newer is named."""
    assert show(f"{url}/orders")["number"] == 7
    found = show(f"{url}/eu/clicks")
    assert found["number"] == 3
    assert [newer["number"] for newer in found["newer"]] == [5, 4]


def test_a_checkpoint_tells_where_it_came_from(url: str) -> None:
    """Kind, parent, lineage, claim, base and writer."""
    found = show(f"{url}/orders", "--checkpoint", "6")
    assert (found["kind"], found["batch"], found["full"]) == ("commit", 4, False)
    assert (found["parent"]["number"], found["base"], found["claim"]) == (5, 5, 1)
    assert found["writer"]["host"] == "host-one"


def test_sources_sinks_and_watermark_are_told(url: str) -> None:
    """What the operator needs to find the batch in the source and in the sink."""
    found = show(f"{url}/orders")
    assert found["sources"][0]["offsets"] == {"orders-0": "4711"}
    sink = {"name": "db", "epoch": 6, "status": "Failed", "message": "deadlock"}
    assert found["sinks"] == [{**sink, "outcome": "unknown", "failed": ""}]
    assert found["watermark_time"] == "2023-11-14T22:13:20.000Z"


def test_the_same_for_people(url: str) -> None:
    """Every fact has its line."""
    text = holdfast("show", f"{url}/orders").out
    for fact in ("checkpoint 7 of orders", "orders-0  4711", "Failed, epoch 6: deadlock"):
        assert fact in text
    assert "batch 6  intent 8, shown at the next start: offsets/6" in text


@pytest.mark.parametrize(
    ("noted", "outcome", "sentence"),
    [
        ({"outcome": "proven", "failed": "OSError: x"}, "proven", "its receipt is in the sink"),
        ({"outcome": "replayed"}, "replayed", "its receipt was there already"),
        ({"outcome": "unknown"}, "unknown", "nothing in the sink tells"),
        (None, "unknown", "nothing in the sink tells"),
    ],
)
def test_a_batch_is_proven_replayed_or_unknown(
    tmp_path: Path, noted: dict[str, str] | None, outcome: str, sentence: str
) -> None:
    """By what the writer noted of each sink; one that never told of itself is unknown."""
    writer = chain(LocalStore(tmp_path / "store")).claim()
    facts = Facts(sink_names=("db",), sink_epochs={"db": 1})
    writer.commit(0, [], facts=facts, notes={"sinks": {"db": noted} if noted else {}, "more": 1})
    url = f"{(tmp_path / 'store').as_uri()}/orders"
    sink = show(url)["sinks"][0]
    assert (sink["outcome"], sink["failed"]) == (outcome, (noted or {}).get("failed", ""))
    text = holdfast("show", url).out
    assert f"{outcome}: {sentence}" in text
    assert ("failed before that: OSError: x" in text) == ("failed" in (noted or {}))
    assert "{" not in text  # what is noted of sinks is told once


def test_a_plain_checkpoint_says_nothing_of_receipts(url: str) -> None:
    """Nobody there could have written one."""
    assert {sink["outcome"] for sink in show(f"{url}/plain")["sinks"]} <= {""}


def test_objects_are_named_with_size_and_hash(url: str) -> None:
    """Those inside manifests too."""
    kinds = {part["key"]: part["kind"] for part in show(f"{url}/orders")["objects"]}
    assert kinds["orders/checkpoints/state-000004.bin"] == "pack"
    assert kinds["orders/manifests/manifest-000007.json"] == "inline"


def test_a_tag_shows_its_checkpoint(url: str) -> None:
    """As it was written, while its manifest is there."""
    found = show(f"{url}/orders", "--checkpoint", "v1")
    assert (found["number"], found["kind"], found["tags"]) == (3, "commit", ["v1"])


def test_a_tag_is_shown_when_its_checkpoint_has_been_retired(root: Path) -> None:
    """The tag itself holds everything."""
    url = f"{root.as_uri()}/orders"
    assert holdfast("prune", url, "--keep", "1", "--yes").code == 0
    found = show(url, "--checkpoint", "v1")
    assert (found["number"], found["kind"], found["batch"]) == (3, "tag", 1)


def test_files_are_listed_only_when_asked_for(url: str) -> None:
    """There may be thousands."""
    assert show(f"{url}/orders")["file_list"] == []
    paths = [part["path"] for part in show(f"{url}/orders", "--files")["file_list"]]
    assert "commits/5" in paths
    assert "state/0/large" in paths


def test_a_pattern_chooses_files(url: str) -> None:
    """As a shell would."""
    found = show(f"{url}/orders", "--files", "commits/*")
    assert [part["path"] for part in found["file_list"]] == [f"commits/{n}" for n in range(6)]


def test_a_pattern_without_files_is_refused(url: str) -> None:
    """It would be ignored, and that is worse."""
    ran = holdfast("show", f"{url}/orders", "commits/*")
    assert (ran.code, "add --files" in ran.err) == (2, True)


def test_cat_writes_the_very_bytes(url: str) -> None:
    """Of a file in a pack; nothing else is on stdout."""
    args = ("show", f"{url}/orders", "--cat", "state/0/large")
    content = holdfast(*args, "--json").json()
    assert base64.b64decode(content["base64"]) == bytes(range(256)) * 8
    assert content["text"] is None
    assert holdfast("show", f"{url}/orders", "--cat", "offsets/5").out == "plan of 5"


def test_the_plan_that_a_start_would_show_can_be_read(url: str) -> None:
    """It is not in any manifest yet."""
    assert holdfast("show", f"{url}/orders", "--cat", "offsets/6").out == "plan of 6"


def test_a_damaged_pack_is_never_written_out(root: Path) -> None:
    """Bytes are compared with their hash before they are shown."""
    damage(LocalStore(root), Keys.of_query("orders").state(4))
    ran = holdfast("show", f"{root.as_uri()}/orders", "--cat", "state/0/large")
    assert (ran.code, ran.out) == (1, "")
    assert "is not what was written" in ran.err


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (("--checkpoint", "99"), "there is no such checkpoint"),
        (("--checkpoint", "nope"), "there is no such tag"),
        (("--cat", "nope"), "there is no such file"),
    ],
)
def test_what_is_not_there_is_not_found(url: str, args: tuple[str, ...], sentence: str) -> None:
    """With a hint at what is."""
    ran = holdfast("show", f"{url}/orders", *args)
    assert (ran.code, ran.out) == (3, "")
    assert sentence in ran.err
    assert "hint: " in ran.err


def test_a_plain_checkpoint_is_shown_with_its_operators(url: str) -> None:
    """Inline or in the sidecar."""
    found = show(f"{url}/plain", "--files")
    assert (found["number"], found["epoch"], found["format"]) == (4, 4, "plain")
    places = {part["path"]: part["object"] for part in found["file_list"]}
    assert places == {"filter": "inline", "window": "sidecar at 2"}


@pytest.mark.parametrize(("operator", "state"), [("filter", "small"), ("window", "ate")])
def test_an_operators_state_can_be_read(url: str, operator: str, state: str) -> None:
    """Its range of the sidecar, or its inline bytes."""
    assert holdfast("show", f"{url}/plain", "--cat", operator).out == state


def test_a_flat_checkpoint_is_shown(url: str) -> None:
    """With the sidecar where that layout has it."""
    found = show(f"{url}/flat", "--checkpoint", "1")
    assert found["objects"][0]["key"] == "flat/checkpoints/checkpoint_000001/state.bin"


def test_a_plain_checkpoint_store_has_no_tags(url: str) -> None:
    """A name can only be a mistake."""
    assert holdfast("show", f"{url}/plain", "--checkpoint", "v1").code == 2
