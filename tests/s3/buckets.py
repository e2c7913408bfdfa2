"""A bucket for as long as a run lasts, and URLs of stores in it."""

from __future__ import annotations

import contextlib
import secrets
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode

import boto3

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.s3.server import Server


@contextlib.contextmanager
def fresh_bucket(server: Server) -> Iterator[str]:
    """A bucket of this run's own, removed with all that is in it."""
    name = f"holdfast-test-{secrets.token_hex(6)}"
    session = boto3.session.Session(
        aws_access_key_id=server.access_key or None,
        aws_secret_access_key=server.secret_key or None,
        region_name="us-east-1",
    )
    bucket = session.resource("s3", endpoint_url=server.endpoint).Bucket(name)
    bucket.create()
    yield name
    bucket.objects.delete()
    bucket.delete()


def store_url(server: Server, bucket: str, prefix: str, **options: str) -> str:
    """What opens a store there; options of the URL can be given."""
    known = {
        "endpoint_url": server.endpoint,
        "region": "us-east-1",
        "access_key": server.access_key,
        "secret_key": server.secret_key,
    }
    chosen = {name: value for name, value in {**known, **options}.items() if value}
    return f"s3://{bucket}/{prefix}?{urlencode(chosen, quote_via=quote)}"
