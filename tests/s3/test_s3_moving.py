"""Checkpoints that Spark keeps on S3 itself, brought in and taken out again."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

import pytest

from holdfast.objectstore import open_store
from tests.cli.support import certify, holdfast
from tests.moving.support import needed, state_metadata, write, write_stock
from tests.trust import trust

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.s3


@pytest.fixture
def stock(tmp_path: Path) -> Path:
    """A checkpoint with a file that is read in two ranges, and sent in pieces."""
    root = write_stock(tmp_path / "stock")
    write(root, "state/0/0/SSTs/1.sst", secrets.token_bytes(1 << 20) * 18)
    return root


def test_a_checkpoint_on_s3_is_imported(
    s3_url: Callable[..., str], stock: Path, tmp_path: Path
) -> None:
    """Under Hadoop's name for S3, too; times are those of its objects."""
    url = s3_url(prefix=f"{secrets.token_hex(6)}/checkpoint")
    there = open_store(url)
    expected = needed(stock)
    for path, body in expected.items():
        there.put(path, body)
    certify(tmp_path / "store")
    target = f"{(tmp_path / 'store').as_uri()}/orders"
    ran = holdfast("import", url.replace("s3:", "s3a:", 1), target, "--json")
    assert (ran.code, ran.json()["files"]) == (0, len(expected))
    assert ran.json()["origin"].endswith("/checkpoint")
    assert holdfast("validate", target).code == 0
    files = {
        file["path"]: file
        for file in holdfast("show", target, "--files", "--json").json()["file_list"]
    }
    assert files["commits/2"]["mtime_ms"] == there.list("commits/2").objects[0].modified_ms


def test_a_query_on_s3_is_exported_to_s3(s3_url: Callable[..., str], stock: Path) -> None:
    """Byte for byte, but for what names the place; and never over something."""
    store, out = s3_url(), s3_url(prefix=f"{secrets.token_hex(6)}/exported")
    trust(open_store(store))
    ran = holdfast("import", str(stock), "orders", HOLDFAST_STORE=store)
    assert (ran.code, ran.err) == (0, "")
    ran = holdfast("export", "orders", out, "--json", HOLDFAST_STORE=store)
    assert (ran.code, ran.err) == (0, "")
    location = ran.json()["location"]
    assert (ran.code, location.startswith("s3a://holdfast-test-")) == (0, True)
    there = open_store(out)
    moved = state_metadata(stock).replace(f"file:{stock}".encode(), location.encode())
    expected = {**needed(stock), "state/0/_metadata/v2/0": moved}
    assert {meta.key: there.get(meta.key).body for meta in there.list().objects} == expected
    assert holdfast("export", "orders", out, HOLDFAST_STORE=store).code == 3
