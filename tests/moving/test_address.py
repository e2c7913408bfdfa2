"""Addresses of checkpoints that Spark keeps itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.errors import ConfigError
from holdfast.moving.address import parse_address


def test_a_path_is_a_directory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Absolute, relative, or as a URL, in which escapes are undone."""
    monkeypatch.chdir(tmp_path)
    assert parse_address("a/b").folder == tmp_path / "a" / "b"
    assert parse_address("/a b").location == "file:///a b"
    assert parse_address("file:///a%20b").folder == Path("/a b")
    assert parse_address("file:/a").folder == Path("/a")


@pytest.mark.parametrize("scheme", ["s3", "s3a", "s3n"])
def test_every_name_of_s3_is_the_same_place(scheme: str) -> None:
    """Spark calls it s3a; options are ours, and never in what Spark is told."""
    found = parse_address(f"{scheme}://key:secret@bucket/a/b/?endpoint_url=http://127.0.0.1:9")
    assert found.url == "s3://key:secret@bucket/a/b/?endpoint_url=http://127.0.0.1:9"
    assert found.location == "s3a://bucket/a/b"
    assert "secret" not in found.shown


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("", "write a path"),
        ("hdfs://host/x", "hdfs dfs -get"),
        ("abfss://c@host/x", "that system's own tool"),
        ("holdfast:///orders", "holdfast clone"),
        ("s3://bucket", "s3://bucket/prefix"),
        ("file://host/x", "file:///path"),
    ],
)
def test_other_places_are_refused_with_the_way(text: str, hint: str) -> None:
    """What to do instead."""
    with pytest.raises(ConfigError) as caught:
        parse_address(text)
    assert hint in caught.value.hint
