"""The store in an S3 bucket, or in anything that speaks S3: the only file that knows boto3.

botocore's own retries are off: they hide a success behind a 412. `RetryingStore` does them, and
knows its own success.
Integrity of a put: AWS gets botocore's default checksum; any other endpoint gets what every S3
server has always understood, Content-MD5 and the SHA-256 of the body in a signed header.

Time: a request of a store with a deadline (`within`) ends by it, however slowly the server sends
or reads; the credential providers of botocore have time limits of their own.

Failure: no answer, or an answer that breaks off or is too slow or too long → `UnavailableError`,
the outcome is unknown.
"""

from __future__ import annotations

import base64
import contextlib
import copy
import ssl
from dataclasses import replace
from typing import TYPE_CHECKING, Literal
from urllib.parse import quote

import boto3
from botocore.configprovider import ConfiguredEndpointProvider
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    CredentialRetrievalError,
    FlexibleChecksumError,
    HTTPClientError,
    IncompleteReadError,
    NoCredentialsError,
    PartialCredentialsError,
    SSLError,
    SSOError,
    TokenRetrievalError,
)
from botocore.exceptions import (
    ConnectionError as BotoConnectionError,
)
from botocore.loaders import create_loader
from botocore.parsers import ResponseParserError
from botocore.session import Session

from holdfast.clock import SYSTEM_CLOCK, Clock
from holdfast.errors import (
    ConfigError,
    DeleteError,
    HoldfastError,
    PermissionDeniedError,
    UnavailableError,
)
from holdfast.objectstore import s3options
from holdfast.objectstore.base import (
    Blob,
    Body,
    ObjectMeta,
    Page,
    Presigned,
    PutMode,
    check_key,
    may_begin_key,
)
from holdfast.objectstore.s3answers import (
    parse_time,
    read_blob,
    read_body,
    read_error,
    read_meta,
    read_page,
)
from holdfast.objectstore.s3body import sendable
from holdfast.objectstore.s3client import adjust_client, client_config, content_md5
from holdfast.objectstore.s3errors import RETRIABLE_CODES, Answer, Asked, Verb, meaning
from holdfast.objectstore.s3http import ANSWER_BYTES_MAX, Limits, limited
from holdfast.objectstore.s3parts import PartedUploads
from holdfast.settings import (
    DOCUMENT_BYTES_MAX,
    LIST_PAGE_MAX,
    OBJECT_BYTES_MAX,
    PRESIGN_SECONDS_MAX,
    S3Settings,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from mypy_boto3_s3.client import S3Client
    from mypy_boto3_s3.type_defs import (
        GetObjectRequestTypeDef,
        ListObjectsV2RequestTypeDef,
        ObjectIdentifierTypeDef,
        PutObjectRequestTypeDef,
    )

    from holdfast.clock import Deadline

_MODELS = create_loader()  # shared: a client of its own reads a megabyte of JSON
_DELETE_KEYS_MAX = 1000
_EMPTY_PAGES_MAX = 1000
_UNREADABLE_STATUS = 416
_HEAD_STATUSES_WITHOUT_REASON = frozenset({301, 307, 400, 401, 403})
_NO_CREDENTIALS = (
    CredentialRetrievalError,
    NoCredentialsError,
    PartialCredentialsError,
    SSOError,
    TokenRetrievalError,
)
_NO_ANSWER = (
    BotoConnectionError,
    FlexibleChecksumError,
    HTTPClientError,
    IncompleteReadError,
    ResponseParserError,
)


class S3Store:
    """Objects below a prefix of one bucket.

    Credentials come from boto3's own chain unless the settings hold some.
    A URL that is presigned with temporary credentials ends with them, however long it was to last.
    """

    can_presign = True

    def __init__(
        self, bucket: str, prefix: str = "", *, settings: S3Settings, clock: Clock = SYSTEM_CLOCK
    ) -> None:
        self._bucket = bucket
        self._prefix = f"{check_key(prefix.strip('/'))}/" if prefix.strip("/") else ""
        self._clock = clock
        self._put_headers = s3options.put_headers(settings)
        self._settings = settings
        self._deadline: Deadline | None = None
        with self._request("presign"):
            session = Session(profile=settings.profile)
            session.register_component("data_loader", _MODELS)
            parsers = session.get_component("response_parser_factory")
            parsers.set_parser_defaults(timestamp_parser=parse_time)
            self._settings = replace(settings, endpoint_url=_endpoint(session, settings))
            s3options.check_endpoint(self._settings)
            s3options.check_bucket(bucket, self._settings)
            self._client = _connect(session, self._settings, self._put_headers)

    def within(self, deadline: Deadline) -> S3Store:
        """The same store over the same connections, every request of which ends by then."""
        bound = copy.copy(self)
        bound._deadline = deadline  # noqa: SLF001 - its own class
        return bound

    @property
    def parts(self) -> PartedUploads:
        return PartedUploads(
            self._client,
            self._bucket,
            self._prefix,
            lambda key: self._request("put", key),
            self.head,
        )

    @property
    def url(self) -> str:
        return self._place + s3options.build_options(self._settings, ("endpoint_url",))

    def reopen_url(self) -> str:
        """What another process opens to see the same objects; may hold credentials."""
        return self._place + s3options.build_options(self._settings)

    @property
    def _place(self) -> str:
        return f"s3://{self._bucket}/{quote(self._prefix.rstrip('/'))}".rstrip("/")

    def put(self, key: str, body: Body, *, mode: PutMode = PutMode.OVERWRITE) -> ObjectMeta:
        request: PutObjectRequestTypeDef = {
            "Bucket": self._bucket,
            "Key": check_key(self._prefix + check_key(key)),
            "Body": sendable(body),
        }
        if self._settings.endpoint_url is not None:
            request["ContentMD5"] = content_md5(body)
        if mode.kind == "create":
            request["IfNoneMatch"] = "*"
        elif mode.kind == "if-match":
            request["IfMatch"] = f'"{mode.etag}"'
        with self._request("put", key, mode=mode):
            answer = self._client.put_object(**request)
        modified_ms = self._clock.now_ms()
        return replace(read_meta(key, len(body), answer), modified_ms=modified_ms)

    def get(self, key: str, *, start: int = 0, length: int | None = None) -> Blob:
        if length == 0:
            return Blob(body=b"", meta=self.head(key))
        whole = start == 0 and length is None
        request: GetObjectRequestTypeDef = {"Bucket": self._bucket, "Key": self._prefix + key}
        if not whole:
            stop = "" if length is None else min(start + length, OBJECT_BYTES_MAX) - 1
            request["Range"] = f"bytes={start}-{stop}"
        bytes_max = DOCUMENT_BYTES_MAX if length is None else start + length
        with self._request("get", key, bytes_max=bytes_max):
            try:
                answer = self._client.get_object(**request)
            except ClientError as error:
                if whole or read_error(error, self._clock).status != _UNREADABLE_STATUS:
                    raise
                return Blob(body=b"", meta=self.head(key))  # it ends before this range
            body = read_body(key, answer, start=start, length=length)
        return read_blob(key, answer, body, start=start, length=length)

    def head(self, key: str) -> ObjectMeta:
        with self._request("head", key):
            try:
                answer = self._client.head_object(Bucket=self._bucket, Key=self._prefix + key)
            except ClientError as error:
                if read_error(error, self._clock).status not in _HEAD_STATUSES_WITHOUT_REASON:
                    raise
                return self.get(key, length=1).meta  # its error has a body, which says why
        return read_meta(key, answer.get("ContentLength"), answer)

    def list(self, prefix: str = "", *, start_after: str = "", limit: int = LIST_PAGE_MAX) -> Page:
        if not may_begin_key(prefix):
            return Page(objects=(), more=False)
        request: ListObjectsV2RequestTypeDef = {
            "Bucket": self._bucket,
            "Prefix": self._prefix + prefix,
            "MaxKeys": min(limit, LIST_PAGE_MAX),
        }
        # Some servers list nothing after a key that lacks the prefix, so such a key never goes out.
        if start_after.startswith(prefix) and self._prefix + start_after:
            request["StartAfter"] = self._prefix + start_after
        elif start_after > prefix:
            return Page(objects=(), more=False)
        with self._request("list", prefix):
            answer = self._client.list_objects_v2(**request)
            for _ in range(_EMPTY_PAGES_MAX):
                # A page can be empty and not the last one, where many keys were just deleted.
                token = answer.get("NextContinuationToken")
                if answer.get("Contents") or not token:
                    break
                request["ContinuationToken"] = token
                answer = self._client.list_objects_v2(**request)
        return read_page(answer, self._prefix)

    def delete(self, keys: Iterable[str]) -> None:
        wanted = list(keys)
        failed: dict[str, str] = {}
        for first in range(0, len(wanted), _DELETE_KEYS_MAX):
            failed |= self._delete_some(wanted[first : first + _DELETE_KEYS_MAX])
        if failed:
            raise DeleteError(failed, hint="check that s3:DeleteObject is allowed (conf/)")

    def _delete_some(self, keys: Iterable[str]) -> dict[str, str]:
        """What could not be deleted, by key.

        Raises:
            UnavailableError: the store asks to try some of them again.
        """
        objects: list[ObjectIdentifierTypeDef] = [{"Key": self._prefix + key} for key in keys]
        with self._request("delete"):
            answer = self._client.delete_objects(
                Bucket=self._bucket, Delete={"Objects": objects, "Quiet": True}
            )
        failed: dict[str, str] = {}
        for error in answer.get("Errors", ()):
            code, key = error.get("Code", ""), error.get("Key", "").removeprefix(self._prefix)
            if code in RETRIABLE_CODES:
                raise meaning(Answer(code=code, status=503), self._asked("delete", key))
            if code != "NoSuchKey":
                failed[key] = f"{code}: {error.get('Message', '')}"
        return failed

    def presign(
        self, method: Literal["GET", "PUT"], key: str, *, expires_s: int = 300, sha256: str = ""
    ) -> Presigned:
        if not 0 < expires_s <= PRESIGN_SECONDS_MAX:
            raise ConfigError("a presigned URL lasts 1 second to 7 days", expires_s=expires_s)
        expires_at_ms = self._clock.now_ms() + expires_s * 1000
        params = {"Bucket": self._bucket, "Key": check_key(self._prefix + check_key(key))}
        headers = dict(self._put_headers) if method == "PUT" else {}
        if sha256:
            params["ChecksumSHA256"] = base64.b64encode(bytes.fromhex(sha256)).decode()
            headers["x-amz-checksum-sha256"] = params["ChecksumSHA256"]
        with self._request("presign", key):
            url = self._client.generate_presigned_url(
                "put_object" if method == "PUT" else "get_object",
                Params=params,
                ExpiresIn=expires_s,
            )
        return Presigned(method=method, url=url, headers=headers, expires_at_ms=expires_at_ms)

    def _asked(self, verb: Verb, key: str, mode: PutMode = PutMode.OVERWRITE) -> Asked:
        return Asked(verb=verb, bucket=self._bucket, key=key, mode=mode)

    @contextlib.contextmanager
    def _request(
        self,
        verb: Verb,
        key: str = "",
        *,
        mode: PutMode = PutMode.OVERWRITE,
        bytes_max: int = ANSWER_BYTES_MAX,
    ) -> Iterator[None]:
        """Bound what the client sends meanwhile, and turn its errors into the store's own."""
        step_s = self._settings.read_timeout_s
        limits = Limits(deadline=self._deadline, step_s=step_s, bytes_max=bytes_max)
        try:
            with limited(limits):
                yield
        except ClientError as error:
            raise meaning(read_error(error, self._clock), self._asked(verb, key, mode)) from error
        except _NO_CREDENTIALS as error:
            raise PermissionDeniedError(
                "there are no usable credentials", hint=_CREDENTIALS_HINT, reason=error
            ) from error
        except _NO_ANSWER as error:
            raise self._no_answer(error, limits.exceeded) from error
        except BotoCoreError as error:
            raise ConfigError(
                "boto3 cannot work with these settings or credentials",
                store=self._place,
                reason=error,
            ) from error

    def _no_answer(self, error: Exception, exceeded: str) -> HoldfastError:
        where = self._settings.endpoint_url or "AWS"
        if isinstance(error, SSLError) and _is_untrusted(error):
            return ConfigError(
                "the endpoint's certificate is not trusted",
                hint="name its authority's file in AWS_CA_BUNDLE",
                endpoint=where,
            )
        return UnavailableError(
            "no whole answer came from the store",
            hint="check endpoint_url, and that this machine reaches it",
            endpoint=where,
            reason=exceeded or type(error).__name__,
        )


_CREDENTIALS_HINT = (
    "set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give the machine a role"
)


def _is_untrusted(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return True
        error = error.__cause__ or error.__context__
    return False


def _endpoint(session: Session, settings: S3Settings) -> str | None:
    """What the settings say, or AWS_ENDPOINT_URL and its like; nothing means AWS itself."""
    if settings.endpoint_url or session.get_config_variable("ignore_configured_endpoint_urls"):
        return settings.endpoint_url
    provider = ConfiguredEndpointProvider(session.full_config, session.get_scoped_config(), "s3")
    found: str | None = provider.provide()
    return found


def _connect(session: Session, settings: S3Settings, put_headers: Mapping[str, str]) -> S3Client:
    opened = boto3.session.Session(
        botocore_session=session,
        region_name=settings.region,
        aws_access_key_id=settings.access_key,
        aws_secret_access_key=settings.secret_key,
    )
    try:
        client = opened.client(
            "s3", endpoint_url=settings.endpoint_url, config=client_config(settings)
        )
    except ValueError as error:  # what botocore raises for a host name that it does not like
        raise ConfigError("boto3 refuses this endpoint", reason=error) from error
    adjust_client(client, settings, put_headers)
    return client
