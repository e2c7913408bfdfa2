"""What only a real server can show: encryption, wrong credentials, wrong places, certification."""

from __future__ import annotations

import mmap
import secrets
import tracemalloc
from typing import TYPE_CHECKING

import boto3
import pytest

from holdfast.errors import ConfigError, PermissionDeniedError, UnavailableError, UnsupportedError
from holdfast.objectstore import (
    MeteredStore,
    ObjectStore,
    RetryingStore,
    certify,
    ensure_certified,
    open_store,
    probe,
)
from holdfast.settings import CERTIFICATE_KEY, RetrySettings
from holdfast.testing import CarelessStore
from holdfast.testing.contract_presign import send
from tests.s3.server import KMS_KEY, Server

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from mypy_boto3_s3.client import S3Client

pytestmark = pytest.mark.s3

ONCE = RetrySettings(attempts_max=1)


def test_s3_is_certified_by_threads_and_processes(store: ObjectStore) -> None:
    """Nothing but the verdict is left behind, and the next start only reads it."""
    certificate = certify(store, seconds=4.0)
    assert (certificate.threads, certificate.processes) == (4, 2)
    assert [meta.key for meta in store.list().objects] == [CERTIFICATE_KEY]
    assert ensure_certified(store) == certificate


def test_a_first_start_certifies(store: ObjectStore) -> None:
    """Before the first checkpoint is trusted to it; later starts only read the verdict."""
    first = ensure_certified(store)
    assert first.certified
    assert ensure_certified(store) == first


def test_a_careless_s3_is_refused(store: ObjectStore) -> None:
    """As an S3-compatible server that ignores If-None-Match would be."""
    with pytest.raises(UnsupportedError, match="create-only"):
        certify(CarelessStore(store), seconds=1.0)


def test_a_large_view_is_sent_piece_by_piece(store: ObjectStore, tmp_path: Path) -> None:
    """A file that is mapped is never whole in memory; every byte arrives."""
    piece = secrets.token_bytes(1 << 20)
    (tmp_path / "large").write_bytes(piece * 24)
    with (tmp_path / "large").open("rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        store.put("warm", b"the client's own tables")
        tracemalloc.start()
        store.put("large", memoryview(mapped))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 4 << 20
    assert store.head("large").size == 24 << 20
    assert store.get("large", start=23 << 20).body == piece


def test_strangers_use_presigned_urls(store: ObjectStore) -> None:
    """With nothing but the URL and the headers that it lists."""
    send(store.presign("PUT", "large/file"), b"uploaded by an executor")
    assert send(store.presign("GET", "large/file")) == b"uploaded by an executor"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"server_side_encryption": "AES256"}, "AES256"),
        ({"server_side_encryption": "aws:kms", "kms_key_id": KMS_KEY}, "aws:kms"),
    ],
)
def test_objects_are_encrypted_as_asked(
    s3_url: Callable[..., str],
    s3_server: Server,
    bucket: str,
    options: dict[str, str],
    expected: str,
) -> None:
    """The server confirms it for our own puts and for presigned ones."""
    if s3_server.kind == "endpoint":
        pytest.skip("whether a given endpoint has keys is not known; MinIO has one")
    prefix = secrets.token_hex(6)
    store = open_store(s3_url(prefix=prefix, **options))
    store.put("a", b"body")
    send(store.presign("PUT", "b"), b"body")
    for key in ("a", "b"):
        head = _client(s3_server).head_object(Bucket=bucket, Key=f"{prefix}/{key}")
        assert head["ServerSideEncryption"] == expected
        assert store.get(key).body == b"body"


def _client(s3_server: Server) -> S3Client:
    return boto3.client(
        "s3",
        endpoint_url=s3_server.endpoint,
        region_name="us-east-1",
        aws_access_key_id=s3_server.access_key,
        aws_secret_access_key=s3_server.secret_key,
    )


def test_tags_are_put_with_the_object(
    s3_url: Callable[..., str], s3_server: Server, bucket: str
) -> None:
    """Extra headers reach the server, signed."""
    if s3_server.kind == "endpoint":
        pytest.skip("whether a given endpoint has tags is not known; MinIO has them")
    url = s3_url(prefix="tags", put_headers="x-amz-tagging: team=data")
    open_store(url).put("a", b"body")
    tags = _client(s3_server).get_object_tagging(Bucket=bucket, Key="tags/a")["TagSet"]
    assert tags == [{"Key": "team", "Value": "data"}]


def test_a_missing_bucket_is_told_at_once(s3_url: Callable[..., str]) -> None:
    """By the probe, and by a put too."""
    store = open_store(s3_url(bucket=f"holdfast-absent-{secrets.token_hex(6)}"))
    with pytest.raises(ConfigError, match="the bucket does not exist"):
        probe(store)
    with pytest.raises(ConfigError, match="the bucket does not exist"):
        store.put("a", b"x")


@pytest.mark.parametrize("wrong", [{"access_key": "AKIAWRONG"}, {"secret_key": "wrong-secret"}])
def test_wrong_credentials_are_told_at_once(
    s3_url: Callable[..., str], s3_server: Server, wrong: dict[str, str]
) -> None:
    """Also by HEAD, whose answer has no body; and the secret stays hidden."""
    if not s3_server.checks_signatures:
        pytest.skip("moto checks no signatures; MinIO does")
    store = open_store(s3_url(**{"access_key": "AKIAWRONG", "secret_key": "wrong-secret", **wrong}))
    for call in (lambda: probe(store), lambda: store.head("a"), lambda: store.put("a", b"x")):
        with pytest.raises(PermissionDeniedError, match="credentials are not valid") as caught:
            call()
        assert "wrong-secret" not in str(caught.value)


def test_a_wrong_endpoint_is_told(s3_url: Callable[..., str]) -> None:
    """Nobody listens there."""
    store = open_store(s3_url(endpoint_url="http://127.0.0.1:9"), retry=ONCE)
    with pytest.raises(UnavailableError, match="check endpoint_url"):
        probe(store)


def test_a_put_is_one_request(s3_url: Callable[..., str]) -> None:
    """What the meter counts is what the server is asked."""
    store = open_store(s3_url())
    assert isinstance(store, RetryingStore)
    assert isinstance(store.inner, MeteredStore)
    store.put("a", b"x")
    assert store.inner.meter.usage().total == 1
