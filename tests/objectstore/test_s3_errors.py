"""What S3 answers becomes the error that says what to do: over real HTTP, from a script."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from botocore.exceptions import FlexibleChecksumError, IncompleteReadError, ReadTimeoutError
from botocore.parsers import ResponseParserError

from holdfast.errors import (
    AlreadyExistsError,
    ConfigError,
    DeleteError,
    HoldfastError,
    NotFoundError,
    PermissionDeniedError,
    PreconditionError,
    StoreError,
    UnavailableError,
    UnsupportedError,
)
from holdfast.objectstore import PutMode, RetryingStore
from holdfast.objectstore.s3answers import read_blob
from holdfast.settings import S3Settings
from holdfast.testing import ManualClock
from tests.objectstore.scripted import ETAG, Reply, ScriptedServer, error

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.objectstore import S3Store

    Connect = Callable[..., S3Store]

IF_MATCH = PutMode.if_match("old")


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (error("SlowDown", 503), UnavailableError),
        (error("InternalError", 500), UnavailableError),
        (error("RequestTimeout", 400), UnavailableError),
        (error("ConditionalRequestConflict", 409), UnavailableError),
        (error("OperationAborted", 409), UnavailableError),
        (error("XAmzContentSHA256Mismatch", 400), UnavailableError),
        (Reply(status=502, body=b"<html>bad gateway</html>"), UnavailableError),
        (error("AccessDenied", 403), PermissionDeniedError),
        (error("InvalidAccessKeyId", 403), PermissionDeniedError),
        (error("SignatureDoesNotMatch", 403), PermissionDeniedError),
        (error("ExpiredToken", 400), PermissionDeniedError),
        (error("RequestTimeTooSkewed", 403), PermissionDeniedError),
        (error("NoSuchBucket", 404), ConfigError),
        (error("AuthorizationHeaderMalformed", 400), ConfigError),
        (error("PermanentRedirect", 301), ConfigError),
        (error("KMS.NotFoundException", 400), ConfigError),
        (error("NotImplemented", 501), UnsupportedError),
        (error("XMinioStorageFull", 507), StoreError),
        (error("EntityTooLarge", 400), StoreError),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else None,
)
def test_an_error_of_a_put_has_its_type(
    server: ScriptedServer, connect: Connect, reply: Reply, expected: type[HoldfastError]
) -> None:
    """Each code is the error that tells the caller what to do."""
    server.then(reply)
    with pytest.raises(HoldfastError) as caught:
        connect().put("key", b"body", mode=PutMode.CREATE)
    assert type(caught.value) is expected
    assert len(server.asked) == 1, "botocore tried again by itself"


@pytest.mark.parametrize(
    ("reply", "mode", "expected"),
    [
        (error("PreconditionFailed", 412), PutMode.CREATE, AlreadyExistsError),
        (error("PreconditionFailed", 412), IF_MATCH, PreconditionError),
        (Reply(status=412), PutMode.CREATE, AlreadyExistsError),
        (error("NoSuchKey", 404), IF_MATCH, PreconditionError),
        (error("PreconditionFailed", 200), PutMode.CREATE, AlreadyExistsError),
        (error("PreconditionFailed", 200), IF_MATCH, PreconditionError),
        (error("ConditionalRequestConflict", 200), PutMode.CREATE, UnavailableError),
        (error("SlowDown", 200), PutMode.CREATE, UnavailableError),
        (error("SomethingNew", 200), PutMode.OVERWRITE, UnavailableError),
        (error("AccessDenied", 200), PutMode.OVERWRITE, PermissionDeniedError),
        (Reply(body=b"<html>welcome</html>"), PutMode.CREATE, UnavailableError),
    ],
)
def test_a_condition_is_answered_even_in_a_200(
    server: ScriptedServer,
    connect: Connect,
    reply: Reply,
    mode: PutMode,
    expected: type[HoldfastError],
) -> None:
    """The code decides, whatever the status; a 200 without an etag is no success."""
    server.then(reply)
    with pytest.raises(HoldfastError) as caught:
        connect().put("key", b"body", mode=mode)
    assert type(caught.value) is expected


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (error("ExpiredToken", 400), ("expired", "renew")),
        (
            error("RequestTimeTooSkewed", 403, ServerTime="2026-01-01T00:00:00Z"),
            ("clock", "2026-01-01"),
        ),
        (error("AccessDenied", 403), ("refused", "iam-policy.json")),
        (error("NoSuchBucket", 404), ("does not exist", "create it")),
        (
            error("AuthorizationHeaderMalformed", 400, Region="eu-central-1"),
            ("another region", "region=eu-central-1"),
        ),
        (error("InvalidObjectState", 403), ("archive", "lifecycle")),
    ],
)
def test_an_error_says_what_to_do(
    server: ScriptedServer, connect: Connect, reply: Reply, words: tuple[str, ...]
) -> None:
    """One sentence with a hint, and no secret in it."""
    server.then(reply)
    with pytest.raises(HoldfastError) as caught:
        connect().get("key")
    text = str(caught.value)
    assert [word for word in words if word not in text] == []
    assert "\n" not in text
    assert "hunter2" not in text


def test_a_head_without_a_reason_is_asked_again_with_one(
    server: ScriptedServer, connect: Connect
) -> None:
    """Errors of HEAD have no body, so a GET learns that the credentials have expired."""
    server.then(Reply(status=400), error("ExpiredToken", 400))
    with pytest.raises(PermissionDeniedError, match="expired"):
        connect().head("key")
    assert [asked.method for asked in server.asked] == ["HEAD", "GET"]


def test_an_absent_object_is_not_found(server: ScriptedServer, connect: Connect) -> None:
    """By GET with its code, by HEAD with its status alone."""
    server.then(error("NoSuchKey", 404))
    with pytest.raises(NotFoundError):
        connect().get("key")
    with pytest.raises(NotFoundError):
        connect().head("key")


def test_a_missing_bucket_is_never_an_empty_one(server: ScriptedServer, connect: Connect) -> None:
    """A listing of it is an error, and so is a 404 of something that is no S3 server."""
    for reply in (error("NoSuchBucket", 404), Reply(status=404, body=b"<html/>")):
        server.then(reply)
        with pytest.raises(ConfigError, match="bucket"):
            connect().list()


def test_a_page_that_is_no_listing_is_never_an_empty_one(
    server: ScriptedServer, connect: Connect
) -> None:
    """A console's or a portal's 200 must not look like a store without checkpoints."""
    for body in (b"<html></html>", b"<html><br>", b"welcome", b""):
        server.then(Reply(body=body))
        with pytest.raises(UnavailableError):
            connect().list()


def test_a_listing_out_of_order_is_refused(server: ScriptedServer, connect: Connect) -> None:
    """Paging by key would skip what comes late."""
    entry = "<Contents><Key>some/prefix/{}</Key><Size>1</Size><ETag>e</ETag></Contents>"
    body = f"<L><IsTruncated>false</IsTruncated>{entry.format('b')}{entry.format('a')}</L>"
    server.then(Reply(body=body.encode()))
    with pytest.raises(UnsupportedError, match="order"):
        connect().list()


def test_no_credentials_is_a_clear_error(connect: Connect) -> None:
    """Nothing is sent, and the sentence says what to set."""
    with pytest.raises(PermissionDeniedError, match="AWS_PROFILE"):
        connect(access_key=None, secret_key=None).head("key")


def test_an_unknown_profile_is_a_configuration_error(connect: Connect) -> None:
    """It is found when the store is opened."""
    with pytest.raises(ConfigError, match="no-such-profile"):
        connect(profile="no-such-profile")


def test_an_endpoint_that_nobody_serves_is_unavailable(connect: Connect) -> None:
    """The sentence names the endpoint."""
    with pytest.raises(UnavailableError, match="check endpoint_url") as caught:
        connect(endpoint_url="http://127.0.0.1:9").head("key")
    assert caught.value.details["endpoint"] == "http://127.0.0.1:9"


@pytest.mark.parametrize("body", [b"0123456789" * 20, b""])
def test_silence_is_unavailable(server: ScriptedServer, connect: Connect, body: bytes) -> None:
    """A server that takes a request and never answers leaves the outcome unknown."""
    server.then(Reply(silent=True))
    with pytest.raises(UnavailableError):
        connect(read_timeout_s=0.1).put("key", body)


@pytest.mark.parametrize("cut", [0, 3, 9])
def test_a_body_that_breaks_off_is_unavailable(
    server: ScriptedServer, connect: Connect, cut: int
) -> None:
    """Fewer bytes than announced are never taken for the object."""
    server.then(Reply(body=b"0123456789", headers=ETAG, cut=cut))
    with pytest.raises(UnavailableError):
        connect().get("key")


def test_a_body_is_as_long_as_it_was_announced() -> None:
    """Checked once more here, whatever the HTTP library does."""
    answer = {"ContentLength": 5, "ETag": "e"}
    with pytest.raises(UnavailableError, match="broke off"):
        read_blob("key", answer, b"1234", start=0, length=None)


@pytest.mark.parametrize(
    "raised",
    [
        FlexibleChecksumError(error_msg="no match"),
        IncompleteReadError(actual_bytes=1, expected_bytes=2),
        ReadTimeoutError(endpoint_url="http://host"),
        ResponseParserError("no XML"),
    ],
    ids=lambda raised: type(raised).__name__,
)
def test_damage_on_the_way_is_unavailable(connect: Connect, raised: Exception) -> None:
    """What broke in transit is worth another try."""
    with pytest.raises(UnavailableError), connect()._request("get", "key"):
        raise raised


@pytest.mark.parametrize("given", ["bytes 3-6/10", "bytes 2-5/4", "bytes 2-9/99", "nonsense"])
def test_another_range_than_asked_for_is_refused(
    server: ScriptedServer, connect: Connect, given: str
) -> None:
    """Start and length are checked against what the server says it sent."""
    headers = {**ETAG, "Content-Range": given}
    server.then(Reply(status=206, body=b"2345", headers=headers))
    with pytest.raises(UnavailableError, match="another range"):
        connect().get("key", start=2, length=5 if given.endswith("99") else 4)


def test_a_server_without_ranges_is_cut_to_size(server: ScriptedServer, connect: Connect) -> None:
    """A 200 with the whole object serves as well."""
    server.then(Reply(body=b"0123456789", headers=ETAG))
    blob = connect().get("key", start=2, length=3)
    assert (blob.body, blob.meta.size) == (b"234", 10)


def test_a_delete_collects_what_is_left(server: ScriptedServer, connect: Connect) -> None:
    """Refused keys are named without the store's prefix; absent ones count as deleted."""
    errors = "".join(
        f"<Error><Key>some/prefix/{key}</Key><Code>{code}</Code><Message>no</Message></Error>"
        for key, code in (("a", "AccessDenied"), ("b", "NoSuchKey"))
    )
    server.then(Reply(body=f"<DeleteResult>{errors}</DeleteResult>".encode()))
    with pytest.raises(DeleteError) as caught:
        connect().delete(["a", "b", "c"])
    assert caught.value.failed == {"a": "AccessDenied: no"}


def test_a_delete_that_should_be_repeated_is_unavailable(
    server: ScriptedServer, connect: Connect
) -> None:
    """A key that the store was too busy for is tried again, with all others."""
    busy = b"<Error><Key>some/prefix/a</Key><Code>SlowDown</Code></Error>"
    server.then(
        Reply(body=b"<DeleteResult>" + busy + b"</DeleteResult>"), Reply(body=b"<DeleteResult/>")
    )
    RetryingStore(connect(), clock=ManualClock()).delete(["a", "b"])
    assert len(server.asked) == 2


def test_a_conflict_is_retried_until_it_is_settled(
    server: ScriptedServer, connect: Connect
) -> None:
    """409 says that two creates met; the next try tells who won."""
    conflict = error("ConditionalRequestConflict", 409)
    server.then(conflict, conflict, Reply(headers=ETAG))
    store = RetryingStore(connect(), clock=ManualClock())
    assert store.put("key", b"mine", mode=PutMode.CREATE).etag == "etag-1"


def test_a_success_behind_a_412_is_our_own(server: ScriptedServer, connect: Connect) -> None:
    """The reply was lost, the retry is refused, and reading back finds our very bytes."""
    server.then(
        Reply(status=503), error("PreconditionFailed", 412), Reply(body=b"mine", headers=ETAG)
    )
    store = RetryingStore(connect(), clock=ManualClock())
    assert store.put("key", b"mine", mode=PutMode.CREATE).read_back


@pytest.mark.parametrize(
    "endpoint",
    [
        "ftp://host",
        "host:9000",
        "http://",
        "http://user:hunter2@host",
        "http://host/?secret=hunter2",
    ],
)
def test_a_wrong_endpoint_is_refused_without_showing_it(connect: Connect, endpoint: str) -> None:
    """It is found when the store is opened, and its credentials stay hidden."""
    with pytest.raises(ConfigError, match="endpoint_url") as caught:
        connect(endpoint_url=endpoint)
    assert "hunter2" not in str(caught.value)


def test_settings_never_show_their_secret() -> None:
    """Not even when somebody prints them."""
    assert "hunter2" not in repr(S3Settings(access_key="AKIA", secret_key="hunter2"))
