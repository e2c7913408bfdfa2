"""`certify`: the checks and the verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from holdfast.cli import certify, target
from holdfast.errors import UnavailableError
from holdfast.objectstore import Certificate, Check, LocalStore, ObjectStore
from holdfast.testing import CarelessStore
from tests.cli.support import NOW_MS, holdfast

if TYPE_CHECKING:
    from pathlib import Path


def test_a_good_store_is_certified() -> None:
    """Every rule is tried, and told with how often."""
    ran = holdfast("certify", "memory:", "--seconds", "0.5", "--json")
    report = ran.json()
    assert (ran.code, report["verdict"], report["store"]) == (0, "certified", "memory:")
    assert {check["rule"] for check in report["checks"]} == {
        "create-only",
        "if-match",
        "list-after-write",
        "read-after-write",
    }
    assert all(check["count"] for check in report["checks"])


def test_a_store_that_ignores_conditions_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The broken rule, the evidence, and exit code 3; the race ends at the first."""
    monkeypatch.setattr(target, "open_store", lambda _: CarelessStore(LocalStore(tmp_path)))
    ran = holdfast("certify", tmp_path.as_uri(), "--seconds", "10", "--json")
    assert (ran.code, ran.json()["verdict"]) == (3, "refused")
    assert [check["evidence"] for check in ran.json()["checks"] if not check["passed"]]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, float]]:
    """Which store was to be raced on and for how long; no one races."""
    calls: list[tuple[str, float]] = []

    def race(store: ObjectStore, *, seconds: float) -> Certificate:
        calls.append((store.url, seconds))
        return Certificate(
            verdict="certified",
            store=store.url,
            when_ms=NOW_MS,
            seconds=seconds,
            threads=4,
            processes=2,
            checks=(Check(rule="create-only", passed=True, count=105),),
        )

    monkeypatch.setattr(certify, "race", race)
    return calls


def test_the_checks_and_the_verdict_for_people(url: str, asked: list[tuple[str, float]]) -> None:
    """How often, by how many, how long."""
    text = holdfast("certify", url, "--seconds", "7").out
    assert asked == [(url, 7.0)]
    assert "create-only  kept       105" in text
    assert "4 threads and 2 processes raced for 7.0 s" in text
    assert f"certified: {url}" in text


def test_a_query_means_its_store(url: str, asked: list[tuple[str, float]]) -> None:
    """The verdict is one per store."""
    assert holdfast("certify", f"{url}/orders").code == 0
    assert asked == [(url, 3.0)]


def test_a_store_that_is_too_slow_gets_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    """That is no refusal."""

    def race(store: ObjectStore, *, seconds: float) -> Certificate:
        raise UnavailableError("too slow", store=store.url, seconds=seconds)

    monkeypatch.setattr(certify, "race", race)
    assert holdfast("certify", "memory:").code == 4
