"""The policies in conf/ fit the keys that are really written."""

from __future__ import annotations

import json
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

from holdfast.layout import Keys
from holdfast.settings import CERTIFICATE_KEY

CONF = Path(__file__).parents[2] / "conf"
KEYS = Keys.of_query("team/orders")


def _statements(name: str) -> list[dict[str, Any]]:
    policy: dict[str, Any] = json.loads((CONF / name).read_text())
    statements: list[dict[str, Any]] = policy["Statement"]
    return statements


def _is_create_only(key: str) -> bool:
    (statement,) = _statements("bucket-policy-create-only.json")
    arn = f"arn:aws:s3:::BUCKET/PREFIX/{key}"
    return any(fnmatchcase(arn, pattern) for pattern in statement["Resource"])


@pytest.mark.parametrize(
    "key",
    [
        KEYS.intent(7),
        KEYS.state(7),
        KEYS.batch(7),
        KEYS.batch(7, 1),
        KEYS.tag("v1"),
    ],
)
def test_what_is_only_ever_created_is_protected(key: str) -> None:
    """S3 itself refuses to overwrite it."""
    assert _is_create_only(key)


@pytest.mark.parametrize(
    "key",
    [
        KEYS.manifest(7),
        KEYS.latest,
        KEYS.clone("x"),
        KEYS.file(7, "1.sst"),
        CERTIFICATE_KEY,
        ".holdfast/certify/1/create-000",
    ],
)
def test_what_may_be_written_again_is_not(key: str) -> None:
    """Tombstones, hints, clones' refs, uploads, verdicts and probes stay possible."""
    assert not _is_create_only(key)


def test_the_minimal_policy_is_minimal() -> None:
    """Five actions, on one prefix of one bucket."""
    objects, listing = _statements("iam-policy.json")
    assert len(objects["Action"]) == 4
    assert objects["Resource"] == "arn:aws:s3:::BUCKET/PREFIX/*"
    assert listing["Action"] == "s3:ListBucket"
    assert listing["Condition"] == {"StringLike": {"s3:prefix": "PREFIX/*"}}
