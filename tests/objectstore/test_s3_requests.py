"""What the S3 store sends, byte for byte, and what it signs for others to send."""

from __future__ import annotations

import base64
import hashlib
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import pytest

from holdfast.errors import ConfigError, UnavailableError
from holdfast.objectstore import PutMode, S3Store, scan
from holdfast.settings import S3Settings
from holdfast.testing import ManualClock
from holdfast.testing.contract_presign import send
from tests.objectstore.scripted import Reply, ScriptedServer

if TYPE_CHECKING:
    from collections.abc import Callable

    Connect = Callable[..., S3Store]

KMS = {"server_side_encryption": "aws:kms", "kms_key_id": "key-1"}
KMS_HEADERS = {
    "x-amz-server-side-encryption": "aws:kms",
    "x-amz-server-side-encryption-aws-kms-key-id": "key-1",
}
EMPTY_LIST = Reply(body=b"<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>")


def _settings(**given: object) -> S3Settings:
    return S3Settings(access_key="AKIATEST", secret_key="hunter2", **given)  # type: ignore[arg-type]


def _signed_headers(url: str) -> set[str]:
    return set(parse_qs(urlsplit(url).query)["X-Amz-SignedHeaders"][0].split(";"))


@pytest.mark.parametrize(
    ("mode", "header", "value"),
    [
        (PutMode.CREATE, "if-none-match", "*"),
        (PutMode.if_match("abc"), "if-match", '"abc"'),
        (PutMode.OVERWRITE, "if-none-match", None),
    ],
)
def test_a_put_carries_its_condition(
    server: ScriptedServer, connect: Connect, mode: PutMode, header: str, value: str | None
) -> None:
    """Create-only and if-match are one header each."""
    connect().put("key", b"body", mode=mode)
    assert server.asked[0].headers.get(header) == value
    assert server.asked[0].path == "/bucket/some/prefix/key"


def test_a_put_is_protected_by_digests_that_every_server_knows(
    server: ScriptedServer, connect: Connect
) -> None:
    """MD5 and signed SHA-256, none of the newer checksums, no chunked transfer."""
    connect().put("key", b"body")
    asked = server.asked[0]
    md5 = base64.b64encode(hashlib.md5(b"body").digest()).decode()
    assert asked.headers["content-md5"] == md5
    assert asked.headers["x-amz-content-sha256"] == hashlib.sha256(b"body").hexdigest()
    assert asked.body == b"body"
    assert not [name for name in asked.headers if "checksum" in name or name == "content-encoding"]


def test_a_put_costs_one_round_trip(server: ScriptedServer, connect: Connect) -> None:
    """The body is sent along, without waiting for "100 Continue"."""
    connect().put("key", b"body")
    assert "expect" not in server.asked[0].headers


def test_a_delete_carries_the_digest_that_every_server_knows(
    server: ScriptedServer, connect: Connect
) -> None:
    """Content-MD5, which older servers require, and no newer checksum, which they refuse."""
    server.then(Reply(body=b"<DeleteResult/>"))
    connect().delete(["a"])
    headers = server.asked[0].headers
    assert headers["content-md5"]
    assert not [name for name in headers if "checksum" in name]


def test_a_delete_goes_by_the_thousand(server: ScriptedServer, connect: Connect) -> None:
    """2,001 keys are three requests."""
    server.then(Reply(body=b"<DeleteResult/>"))
    connect().delete(f"k{number}" for number in range(2001))
    assert [asked.body.count(b"<Key>") for asked in server.asked] == [1000, 1000, 1]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"server_side_encryption": "AES256"}, {"x-amz-server-side-encryption": "AES256"}),
        (KMS, KMS_HEADERS),
    ],
)
def test_encryption_is_asked_for_by_every_put(
    server: ScriptedServer, settings: dict[str, str], expected: dict[str, str]
) -> None:
    """Our own puts and presigned ones; the signature covers the headers."""
    store = S3Store("bucket", settings=_settings(endpoint_url=server.endpoint, **settings))
    store.put("key", b"body")
    assert expected.items() <= server.asked[0].headers.items()
    signed = store.presign("PUT", "key")
    assert signed.headers == expected
    assert set(expected) <= _signed_headers(signed.url)
    send(signed, b"body")
    assert expected.items() <= server.asked[1].headers.items()
    assert store.presign("GET", "key").headers == {}


def test_put_headers_are_sent_by_every_put(server: ScriptedServer) -> None:
    """Tags, storage class or a vendor's own: as given, lowercase, signed."""
    given = {"x-amz-tagging": "team=data&tier=1", "X-Vendor-Thing": "yes"}
    settings = _settings(endpoint_url=server.endpoint, put_headers=given)
    store = S3Store("bucket", settings=settings)
    store.put("key", b"body")
    expected = {"x-amz-tagging": "team=data&tier=1", "x-vendor-thing": "yes"}
    assert expected.items() <= server.asked[0].headers.items()
    assert "x-vendor-thing" in server.asked[0].headers["authorization"]
    assert store.presign("PUT", "key").headers == expected


@pytest.mark.parametrize(
    "header",
    ["If-None-Match", "Content-Length", "x-amz-server-side-encryption", "x-amz-date", "a b", "é"],
)
def test_a_header_that_is_not_the_users_is_refused(header: str) -> None:
    """Conditions, signatures, lengths and encryption cannot be overridden by a header."""
    with pytest.raises(ConfigError):
        S3Store("bucket", settings=_settings(put_headers={header: "x"}))


@pytest.mark.parametrize(
    "settings",
    [
        {"server_side_encryption": "aes-256"},
        {"kms_key_id": "key-1"},
        {"put_headers": {"x-amz-storage-class": "DEEP_ARCHIVE"}},
        {"put_headers": {"x-amz-tagging": "a\nb"}},
    ],
)
def test_settings_that_cannot_work_are_refused(settings: dict[str, object]) -> None:
    """Before the first request, with a hint."""
    with pytest.raises(ConfigError):
        S3Store("bucket", settings=_settings(**settings))


@pytest.mark.parametrize(
    ("settings", "start"),
    [
        ({}, "https://bucket.s3.amazonaws.com/"),
        ({"region": "eu-central-1"}, "https://bucket.s3.eu-central-1.amazonaws.com/"),
        ({"path_style": True, "region": "eu-central-1"}, "https://s3.eu-central-1.amazonaws.com/b"),
        ({"endpoint_url": "http://host:9000"}, "http://host:9000/bucket/"),
        ({"endpoint_url": "http://host:9000", "path_style": False}, "http://bucket.host:9000/"),
    ],
)
def test_an_address_is_formed_as_the_settings_say(settings: dict[str, object], start: str) -> None:
    """Path style by default at a foreign endpoint, virtual hosts at AWS."""
    store = S3Store("bucket", settings=_settings(**settings))
    assert store.presign("GET", "key").url.startswith(start)


def test_an_endpoint_of_the_environment_is_a_foreign_one(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """AWS_ENDPOINT_URL is treated, and shown, as if the URL had said it."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", server.endpoint)
    store = S3Store("bucket", settings=_settings())
    store.put("key", b"body")
    assert server.asked[0].path == "/bucket/key"
    assert "content-md5" in server.asked[0].headers
    assert store.url.endswith(server.endpoint.rpartition(":")[2])


def test_a_presigned_url_says_when_it_ends() -> None:
    """Seven days at most, one second at least, by the store's own clock."""
    store = S3Store("bucket", settings=_settings(), clock=ManualClock(now_ms=1000))
    assert store.presign("GET", "key", expires_s=9).expires_at_ms == 10_000
    for wrong in (0, 7 * 24 * 3600 + 1):
        with pytest.raises(ConfigError):
            store.presign("GET", "key", expires_s=wrong)


def test_a_presigned_request_is_not_shown() -> None:
    """It is a secret until it expires, so printing it shows nothing."""
    signed = S3Store("bucket", settings=_settings()).presign("PUT", "key")
    assert "X-Amz" not in repr(signed)


def test_a_listing_never_starts_after_a_key_without_its_prefix(
    server: ScriptedServer, connect: Connect
) -> None:
    """Some servers would list nothing then; one that is past the prefix needs no request."""
    server.then(EMPTY_LIST)
    connect().list("m", start_after="a")
    assert "start-after" not in server.asked[0].path
    assert connect().list("m", start_after="z").objects == ()
    assert len(server.asked) == 1


def test_a_listing_skips_the_folder_that_a_console_made(
    server: ScriptedServer, connect: Connect
) -> None:
    """An object named like the prefix itself would be a key without a name."""
    server.then(EMPTY_LIST)
    connect().list()
    assert "start-after=some%2Fprefix%2F&" in f"{server.asked[0].path}&"


def _page(*names: str, token: str = "") -> Reply:
    """A page of a listing; with a token, more follow."""
    entry = "<Contents><Key>some/prefix/{}</Key><Size>1</Size><ETag>e</ETag></Contents>"
    follow = f"<NextContinuationToken>{token}</NextContinuationToken>" if token else ""
    found = "".join(entry.format(name) for name in names)
    body = f"<L><IsTruncated>{str(bool(token)).lower()}</IsTruncated>{follow}{found}</L>"
    return Reply(body=body.encode())


def test_an_empty_page_is_not_the_end_of_a_listing(
    server: ScriptedServer, connect: Connect
) -> None:
    """A bucket with versions gives such pages for deleted keys; what follows them exists."""
    server.then(_page("a", token="1"), _page(token="2"), _page(token="3"), _page("b"))
    assert [meta.key for meta in scan(connect())] == ["a", "b"]
    assert "continuation-token=3" in server.asked[-1].path


def test_a_listing_without_an_end_is_never_a_whole_one(
    server: ScriptedServer, connect: Connect
) -> None:
    """Neither one that gives no token, nor one that gives them for ever."""
    server.then(Reply(body=b"<L><IsTruncated>true</IsTruncated></L>"))
    with pytest.raises(UnavailableError, match="does not say where"):
        connect().list()


def test_a_directory_bucket_is_refused() -> None:
    """S3 Express lists in no order, and we say so before the first request."""
    with pytest.raises(ConfigError, match="general purpose"):
        S3Store("bucket--use1-az4--x-s3", settings=_settings())
