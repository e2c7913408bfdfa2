"""What an answer of S3 means, as one of our errors; knows codes and statuses, and no library.

A code comes before its HTTP status: S3 can send an error in the body of a 200.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from holdfast.errors import (
    AlreadyExistsError,
    ConfigError,
    HoldfastError,
    NotFoundError,
    PermissionDeniedError,
    PreconditionError,
    StoreError,
    UnavailableError,
    UnsupportedError,
)
from holdfast.objectstore.base import PutMode

if TYPE_CHECKING:
    from collections.abc import Mapping

Verb: TypeAlias = Literal["put", "get", "head", "list", "delete", "presign"]

_REASON_MAX = 200

RETRIABLE_CODES = frozenset({
    "BadDigest",  # the bytes were damaged on their way
    "BandwidthLimitExceeded",
    "ConditionalRequestConflict",
    "IncompleteBody",
    "InternalError",
    "OperationAborted",
    "PriorRequestNotComplete",
    "RequestLimitExceeded",
    "RequestTimeout",
    "ServiceUnavailable",
    "SlowDown",
    "SlowDownRead",
    "SlowDownWrite",
    "TemporaryRedirect",
    "Throttling",
    "ThrottlingException",
    "TooManyRequests",
    "XAmzContentSHA256Mismatch",
})  # fmt: skip
_RETRIABLE_STATUSES = frozenset({307, 408, 409, 425, 429, 500, 502, 503, 504})

_RENEW = "renew them (for instance `aws sso login`), then try again"
_CHECK_KEYS = "check which credentials are used: `aws sts get-caller-identity` shows it"
_ALLOW = "allow what conf/iam-policy.json lists, on this bucket and prefix"
_CLOCK = "set the clock of this machine (for instance `timedatectl set-ntp true`), then try again"
_REGION = 'add the bucket\'s region to the URL: "?region=…"'
_KMS = "check kms_key_id, that the key is enabled, and that these credentials may use it"


@dataclass(frozen=True, slots=True)
class _Meaning:
    error: type[HoldfastError]
    message: str
    hint: str


_EXPIRED = _Meaning(PermissionDeniedError, "the credentials have expired", _RENEW)
_INVALID = _Meaning(PermissionDeniedError, "the credentials are not valid here", _CHECK_KEYS)
_SKEWED = _Meaning(PermissionDeniedError, "the clock of this machine is wrong", _CLOCK)
_REFUSED = _Meaning(PermissionDeniedError, "access is refused", _ALLOW)
_ELSEWHERE = _Meaning(ConfigError, "the bucket is in another region", _REGION)
_BUCKET = _Meaning(
    ConfigError, "the bucket does not exist", "create it, or correct its name in the URL"
)
_NOWHERE = _Meaning(
    ConfigError, "no bucket is found here", "check the bucket's name and endpoint_url in the URL"
)
_BUCKET_NAME = _Meaning(
    ConfigError, "no bucket can have this name", "correct the bucket's name in the URL"
)
_UPLOAD = _Meaning(
    NotFoundError,
    "no such upload in parts",
    "a lifecycle rule may have ended it; the file is sent again",
)
_KMS_KEY = _Meaning(ConfigError, "the encryption key cannot be used", _KMS)
_LACKING = _Meaning(
    UnsupportedError,
    "the store cannot do this",
    "run `holdfast certify` on it; Holdfast needs a store with conditional writes",
)
_FULL = _Meaning(StoreError, "the store is full", "free some space; nothing was written")
_ARCHIVED = _Meaning(
    StoreError,
    "the object was moved to an archive",
    "restore it, and take this prefix out of the bucket's lifecycle rules (conf/STORES.md)",
)

_MEANINGS: Mapping[str, _Meaning] = {
    "ExpiredToken": _EXPIRED,
    "ExpiredTokenException": _EXPIRED,
    "RequestExpired": _EXPIRED,
    "TokenRefreshRequired": _EXPIRED,
    "InvalidAccessKeyId": _INVALID,
    "InvalidClientTokenId": _INVALID,
    "InvalidSecurity": _INVALID,
    "InvalidToken": _INVALID,
    "InvalidTokenId": _INVALID,
    "SignatureDoesNotMatch": _INVALID,
    "UnrecognizedClientException": _INVALID,
    "RequestTimeTooSkewed": _SKEWED,
    "AccessDenied": _REFUSED,
    "AccountProblem": _REFUSED,
    "AllAccessDisabled": _REFUSED,
    "AuthorizationHeaderMalformed": _ELSEWHERE,
    "IllegalLocationConstraintException": _ELSEWHERE,
    "IncorrectEndpoint": _ELSEWHERE,
    "PermanentRedirect": _ELSEWHERE,
    "NoSuchBucket": _BUCKET,
    "InvalidBucketName": _BUCKET_NAME,
    "KMS.DisabledException": _KMS_KEY,
    "KMS.KMSInvalidStateException": _KMS_KEY,
    "KMS.NotFoundException": _KMS_KEY,
    "NoSuchUpload": _UPLOAD,
    "NotImplemented": _LACKING,
    "QuotaExceeded": _FULL,
    "XMinioStorageFull": _FULL,
    "InvalidObjectState": _ARCHIVED,
}
_STATUS_MEANINGS: Mapping[int, _Meaning] = {
    301: _ELSEWHERE,
    308: _ELSEWHERE,
    401: _REFUSED,
    403: _REFUSED,
    501: _LACKING,
    507: _FULL,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The request that was answered."""

    verb: Verb
    bucket: str
    key: str = ""
    mode: PutMode = PutMode.OVERWRITE


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An error as S3 tells it; `fields` are the further elements of its body.

    `retry_after_s` is how long the server asks to wait, 0 if it does not.
    """

    code: str
    status: int
    message: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)
    retry_after_s: float = 0.0


def meaning(answer: Answer, asked: Asked) -> HoldfastError:
    """The error to raise for this answer; never raises one itself."""
    if answer.code in RETRIABLE_CODES:
        return _unavailable(answer, asked)
    if answer.code == "PreconditionFailed" or answer.status == 412:  # noqa: PLR2004 - HTTP's own
        return _refused_condition(asked)
    known = _MEANINGS.get(answer.code)
    if known is not None:
        return _told(known, answer, asked)
    if answer.status == 404:  # noqa: PLR2004 - HTTP's own number
        return _absent(answer, asked)
    if answer.status in _RETRIABLE_STATUSES:
        return _unavailable(answer, asked)
    known = _STATUS_MEANINGS.get(answer.status)
    return _told(known or _Meaning(StoreError, "the store refuses", ""), answer, asked)


def _refused_condition(asked: Asked) -> HoldfastError:
    if asked.mode.kind == "create":
        return AlreadyExistsError("object exists", key=asked.key)
    return PreconditionError("object is another version", key=asked.key)


def _absent(answer: Answer, asked: Asked) -> HoldfastError:
    if asked.verb in ("get", "head"):
        return NotFoundError("no such object", key=asked.key)
    if asked.mode.kind == "if-match":
        return PreconditionError("object is gone", key=asked.key)
    return _told(_NOWHERE, answer, asked)


def _unavailable(answer: Answer, asked: Asked) -> HoldfastError:
    return UnavailableError(
        "the store did not do this now",
        hint="try later; many of these in a row mean too many requests or a sick store",
        retry_after_s=answer.retry_after_s,
        **_details(answer, asked),
    )


def _told(known: _Meaning, answer: Answer, asked: Asked) -> HoldfastError:
    hint = known.hint
    region = answer.fields.get("Region", "")
    if known is _ELSEWHERE and region:
        hint = f'add "region={region}" to the URL\'s options'
    return known.error(known.message, hint=hint, **_details(answer, asked))


def _details(answer: Answer, asked: Asked) -> dict[str, Any]:
    found = {
        "verb": asked.verb,
        "bucket": asked.bucket,
        "key": asked.key,
        "code": answer.code,
        "reason": " ".join(answer.message.split())[:_REASON_MAX],
        "server_time": answer.fields.get("ServerTime", ""),
    }
    return {name: value for name, value in found.items() if value}
