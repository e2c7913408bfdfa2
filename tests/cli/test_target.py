"""Addresses: which store and which query a text means."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from holdfast.cli import target as targets
from holdfast.cli.target import resolve
from holdfast.errors import ConfigError, PermissionDeniedError
from holdfast.objectstore import LocalStore, ObjectStore, open_store
from holdfast.testing import Fault, FaultyStore
from tests.chain.support import chain, run
from tests.cli.support import build_plain, certify, holdfast

if TYPE_CHECKING:
    from pathlib import Path


def meant(text: str, store: str = "") -> tuple[str, str, str]:
    """Store, query and format."""
    found = resolve(text, {"HOLDFAST_STORE": store})
    return found.store.url, found.query, found.format


@pytest.mark.parametrize(
    ("query", "form"),
    [("orders", "chain"), ("eu/clicks", "chain"), ("plain", "plain"), ("flat", "flat")],
)
def test_the_level_with_a_certificate_is_the_store(url: str, query: str, form: str) -> None:
    """And the rest is the query, nested or not."""
    assert meant(f"{url}/{query}") == (url, query, form)
    assert meant(f"{url}/{query}/") == (url, query, form)


def test_a_store_is_itself(url: str) -> None:
    """No query is named."""
    assert meant(url) == (url, "", "none")


def test_the_nearest_certificate_counts(root: Path) -> None:
    """A store may lie inside another's directory."""
    certify(root / "eu")
    assert meant(f"{root.as_uri()}/eu/clicks")[:2] == (f"{root.as_uri()}/eu", "clicks")


@pytest.mark.parametrize("name", ["copy of orders", "copy%20of%20orders"])
def test_names_are_written_plainly_or_escaped(url: str, name: str) -> None:
    """Both mean the same query."""
    assert meant(f"{url}/{name}") == (url, "copy of orders", "chain")
    assert meant(name, url) == (url, "copy of orders", "chain")


@pytest.mark.parametrize("text", ["orders", "holdfast:///orders", " orders "])
def test_a_bare_name_is_in_the_default_store(url: str, text: str) -> None:
    """As is the path that a job has for its checkpointLocation."""
    assert meant(text, url) == (url, "orders", "chain")


def test_the_default_store_is_the_target_where_none_is_given(url: str) -> None:
    """`holdfast ls` alone is enough."""
    assert holdfast("ls", HOLDFAST_STORE=url).code == 0
    assert meant("", url) == (url, "", "none")


def test_a_url_goes_before_the_default_store(url: str) -> None:
    """The variable is only a default."""
    assert meant(f"{url}/orders", "file:///elsewhere")[0] == url


@pytest.mark.parametrize("text", ["", "orders", "holdfast:///orders"])
def test_without_any_store_the_hint_says_how_to_give_one(text: str) -> None:
    """A URL, or the variable."""
    with pytest.raises(ConfigError, match="HOLDFAST_STORE"):
        meant(text)


def test_a_store_that_only_the_job_knows_is_refused(url: str) -> None:
    """`holdfast://prod/…` is resolved by the job's configuration."""
    with pytest.raises(ConfigError, match="only known to the Spark job"):
        meant("holdfast://prod/orders", url)


def test_without_a_certificate_a_chain_is_known_by_its_manifests(bare: Path) -> None:
    """They name the query, and so how far up the store is."""
    url = bare.as_uri()
    assert meant(f"{url}/orders") == (url, "orders", "chain")
    assert meant(f"{url}/eu/clicks") == (url, "eu/clicks", "chain")


def test_without_a_certificate_an_escaped_name_is_found(bare: Path) -> None:
    """Its directory has the escaped name."""
    url = bare.as_uri()
    assert meant(f"{url}/copy of orders") == (url, "copy of orders", "chain")


@pytest.mark.parametrize("query", ["plain", "flat"])
def test_without_a_certificate_a_plain_store_is_where_the_path_says(bare: Path, query: str) -> None:
    """Its keys begin right there."""
    url = f"{bare.as_uri()}/{query}"
    assert meant(url) == (url, query, query)


def test_without_anything_a_path_is_a_store(bare: Path) -> None:
    """One that is still to be."""
    assert meant(bare.as_uri()) == (bare.as_uri(), "", "none")


def test_a_plain_store_may_have_a_prefix_that_is_not_escaped(root: Path) -> None:
    """The seed's crate takes any."""
    build_plain(LocalStore(root), "node 7")
    found = resolve(f"{root.as_uri()}/node 7", {})
    assert (found.prefix, found.format) == ("node 7/", "plain")


def test_one_may_not_be_allowed_to_look_above_the_prefix(
    bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A policy for a prefix refuses the levels above it; that stops nothing."""

    def guarded(url: str) -> ObjectStore:
        store = open_store(url)
        inside = url.startswith(bare.as_uri())
        refusal = Fault(error=PermissionDeniedError("access is refused"), nth=0)
        return store if inside else FaultyStore(store, [refusal])

    monkeypatch.setattr(targets, "open_store", guarded)
    assert meant(f"{bare.as_uri()}/orders") == (bare.as_uri(), "orders", "chain")


def test_a_chain_that_was_copied_to_another_name_says_so(bare: Path) -> None:
    """Its manifests name the old one."""
    shutil.copytree(bare / "orders", bare / "renamed")
    ran = holdfast("recover", f"{bare.as_uri()}/renamed")
    assert (ran.code, "use `holdfast clone`" in ran.err) == (1, True)


def test_a_damaged_newest_manifest_does_not_hide_the_name(bare: Path) -> None:
    """The next one names the query too."""
    (bare / "eu/clicks/manifests/manifest-000005.json").write_bytes(b"{")
    assert meant(f"{bare.as_uri()}/eu/clicks")[1] == "eu/clicks"


def test_a_wrong_name_gets_the_nearest_one(url: str) -> None:
    """At three in the morning."""
    ran = holdfast("recover", f"{url}/ordres")
    assert (ran.code, 'did you mean "orders"?' in ran.err) == (3, True)


def test_a_command_for_a_query_asks_for_one(url: str) -> None:
    """With an example to copy."""
    ran = holdfast("recover", url)
    assert (ran.code, f"holdfast recover {url}/" in ran.err) == (2, True)


def test_a_query_in_a_directory_of_its_own_name_is_found(tmp_path: Path) -> None:
    """Nested twice the same."""
    run(chain(LocalStore(tmp_path), query="a/a").claim(), 1)
    assert meant(f"{tmp_path.as_uri()}/a/a") == (tmp_path.as_uri(), "a/a", "chain")
