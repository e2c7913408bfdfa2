"""The minimal policy in conf/ is enough for everything, and opens nothing else."""

from __future__ import annotations

import json
import secrets
from pathlib import Path
from typing import TYPE_CHECKING

import boto3
import pytest

from holdfast.errors import PermissionDeniedError
from holdfast.objectstore import certify, open_store, probe
from holdfast.testing import CONTRACT

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.s3.server import Server

pytestmark = pytest.mark.s3

POLICY = Path(__file__).parents[2] / "conf" / "iam-policy.json"

CLAIMS = {
    "a_put_is_read_back_whole",
    "an_absent_key_is_not_found",
    "a_listing_comes_in_pages",
    "a_delete_takes_many",
    "one_of_many_creates_wins",
    "presigning_works_or_says_no",
}


@pytest.fixture
def limited_prefix(s3_server: Server, bucket: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Temporary credentials, by AWS's own variables, that the policy limits to one prefix."""
    if s3_server.kind not in ("binary", "container"):
        pytest.skip("only MinIO is known to enforce a session's policy")
    prefix = f"limited-{secrets.token_hex(6)}"
    policy = POLICY.read_text().replace("BUCKET", bucket).replace("PREFIX", prefix)
    session = boto3.client(
        "sts",
        endpoint_url=s3_server.endpoint,
        region_name="us-east-1",
        aws_access_key_id=s3_server.access_key,
        aws_secret_access_key=s3_server.secret_key,
    ).assume_role(
        RoleArn="arn:aws:iam::000000000000:role/any",
        RoleSessionName="limited",
        Policy=json.dumps(json.loads(policy)),
    )
    credentials = session["Credentials"]
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", credentials["AccessKeyId"])
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", credentials["SecretAccessKey"])
    monkeypatch.setenv("AWS_SESSION_TOKEN", credentials["SessionToken"])
    return prefix


def test_the_policy_is_enough(limited_prefix: str, s3_url: Callable[..., str]) -> None:
    """Claims that need each of its actions are kept, and the store is certified."""
    claims = [claim for claim in CONTRACT if claim.__name__ in CLAIMS]
    assert len(claims) == len(CLAIMS)
    for claim in claims:
        prefix = f"{limited_prefix}/{claim.__name__}"
        claim(open_store(s3_url(prefix=prefix, access_key="", secret_key="")))
    assert certify(open_store(s3_url(prefix=limited_prefix, access_key="", secret_key="")))


def test_the_policy_opens_nothing_else(limited_prefix: str, s3_url: Callable[..., str]) -> None:
    """Beside its prefix nothing can be listed, read, written or deleted."""
    store = open_store(s3_url(prefix=f"{limited_prefix}-beside", access_key="", secret_key=""))
    for call in (
        lambda: probe(store),
        lambda: store.get("a"),
        lambda: store.head("a"),
        lambda: store.put("a", b"x"),
    ):
        with pytest.raises(PermissionDeniedError, match=r"iam-policy\.json"):
            call()


def test_a_wrong_session_token_is_told(
    limited_prefix: str, s3_url: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Credentials that are no longer good are not "access denied"."""
    monkeypatch.setenv("AWS_SESSION_TOKEN", "no-such-token")
    store = open_store(s3_url(prefix=limited_prefix, access_key="", secret_key=""))
    with pytest.raises(PermissionDeniedError, match="credentials"):
        probe(store)
