"""The settings of an S3 store as URL options and as headers: parsed and built here, both ways."""

from __future__ import annotations

import dataclasses
import difflib
import re
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode, urlsplit

from holdfast.errors import ConfigError
from holdfast.settings import S3Settings

if TYPE_CHECKING:
    from collections.abc import Iterable

NAMES = tuple(field.name for field in dataclasses.fields(S3Settings))
SHOWN = frozenset(NAMES) - {"access_key", "secret_key", "put_headers"}

_KINDS = {field.name: str(field.type) for field in dataclasses.fields(S3Settings)}
_TRUTHS = {"true": True, "1": True, "false": False, "0": False}
_NUMBER_MAX = 1_000_000
_ENCRYPTIONS = ("AES256", "aws:kms", "aws:kms:dsse")
_ARCHIVES = ("GLACIER", "DEEP_ARCHIVE")
_SSE_HEADER = "x-amz-server-side-encryption"
_KMS_HEADER = f"{_SSE_HEADER}-aws-kms-key-id"
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_OPTION_NAME = re.compile(r"[A-Za-z_-]{1,40}")
_BUCKET_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,253}[A-Za-z0-9]")
_OWN_HEADERS = frozenset({
    "authorization",
    "content-encoding",
    "content-length",
    "content-md5",
    "date",
    "expect",
    "host",
    "range",
    "transfer-encoding",
    "x-amz-content-sha256",
    "x-amz-date",
    "x-amz-security-token",
})  # fmt: skip
_OWN_PREFIXES = ("if-", "x-amz-checksum-", "x-amz-copy-", "x-amz-sdk-", _SSE_HEADER)


def parse_options(pairs: Iterable[tuple[str, str]]) -> S3Settings:
    """Settings from the options of a URL; `put_headers` is `Name: value` and may be repeated.

    Raises:
        ConfigError: an option is unknown, given twice or has a wrong value.
    """
    found: dict[str, object] = {}
    headers: dict[str, str] = {}
    for name, text in pairs:
        if name == "put_headers":
            headers.update([_header(text)])
        elif name in found:
            raise ConfigError("an option is given twice", option=name)
        else:
            found[name] = _value(name, text)
    return S3Settings(**found, put_headers=headers)  # type: ignore[arg-type]  # checked by _value


def build_options(settings: S3Settings, names: Iterable[str] = NAMES) -> str:
    """The options of a URL that say these settings, those at their defaults left out."""
    pairs: list[tuple[str, str]] = []
    for name in NAMES:
        value = getattr(settings, name)
        if name not in names or value == getattr(S3Settings(), name):
            continue
        if name == "put_headers":
            pairs += [(name, f"{header}: {text}") for header, text in value.items()]
        else:
            pairs.append((name, str(value).lower() if isinstance(value, bool) else str(value)))
    return f"?{urlencode(pairs, quote_via=quote)}" if pairs else ""


def nearest(name: str, known: Iterable[str]) -> str:
    """The known name that a wrong one was meant to be, as a hint, or all of them."""
    known = tuple(known)
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    return f'did you mean "{close[0]}"?' if close else f"known are: {', '.join(known)}"


def _value(name: str, text: str) -> object:
    if name not in NAMES:
        shown = name if _OPTION_NAME.fullmatch(name) else "***"  # a stray piece of a secret
        raise ConfigError("an option is unknown", hint=nearest(name, NAMES), option=shown)
    kind = _KINDS[name]
    if kind.startswith("bool"):
        if text.lower() not in _TRUTHS:
            raise ConfigError("an option is wrong", hint='write "true" or "false"', option=name)
        return _TRUTHS[text.lower()]
    if kind not in ("int", "float"):
        return text
    try:
        number = int(text) if kind == "int" else float(text)
    except ValueError:
        raise ConfigError("an option is wrong", hint="it is a number", option=name) from None
    if not 0 < number < _NUMBER_MAX:  # which also refuses what is not a number
        raise ConfigError("an option is out of range", option=name, value=text)
    return number


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon:
        raise ConfigError(
            "a put header has no value", hint='write "put_headers=Name: value"', header=name
        )
    return name.strip(), value.strip()


def put_headers(settings: S3Settings) -> dict[str, str]:
    """The headers that every put sends besides S3's own, lowercase; presigned ones too.

    Raises:
        ConfigError: encryption is not one that S3 knows, or a header is not the user's to set.
    """
    found = _encryption(settings)
    for name, value in settings.put_headers.items():
        found[_checked(name.lower(), value)] = value
    return found


def _encryption(settings: S3Settings) -> dict[str, str]:
    chosen, key = settings.server_side_encryption, settings.kms_key_id
    if chosen is not None and chosen not in _ENCRYPTIONS:
        raise ConfigError(
            "this encryption is unknown",
            hint=nearest(chosen, _ENCRYPTIONS),
            server_side_encryption=chosen,
        )
    if key and (chosen is None or not chosen.startswith("aws:kms")):
        raise ConfigError(
            "a KMS key needs KMS encryption",
            hint='add "server_side_encryption=aws:kms"',
            kms_key_id=key,
        )
    return {_SSE_HEADER: chosen} | ({_KMS_HEADER: key} if key else {}) if chosen else {}


def _checked(name: str, value: str) -> str:
    if not _HEADER_NAME.fullmatch(name) or not value.isascii() or not value.isprintable():
        raise ConfigError("this is no HTTP header", header=ascii(name))
    if name.startswith(_SSE_HEADER):
        raise ConfigError(
            "encryption is a setting of its own",
            hint="use server_side_encryption and kms_key_id",
            header=name,
        )
    if name in _OWN_HEADERS or name.startswith(_OWN_PREFIXES):
        raise ConfigError("this header is Holdfast's own to set", header=name)
    if name == "x-amz-storage-class" and value.upper() in _ARCHIVES:
        raise ConfigError(
            "an archive cannot be read at once, so it cannot hold checkpoints",
            hint="use a storage class with instant access (conf/STORES.md)",
            storage_class=value,
        )
    return name


def check_bucket(bucket: str, settings: S3Settings) -> str:
    """The bucket's name, if S3 allows it and lists it in order.

    Raises:
        ConfigError: it does not.
    """
    if not _BUCKET_NAME.fullmatch(bucket):
        raise ConfigError("no bucket can have this name", hint="s3://bucket/prefix", bucket=bucket)
    if bucket.endswith("--x-s3") and settings.endpoint_url is None:
        raise ConfigError(
            "a directory bucket (S3 Express) lists its keys in no order",
            hint="use a general purpose bucket (conf/STORES.md)",
            bucket=bucket,
        )
    return bucket


def check_endpoint(settings: S3Settings) -> None:
    """Refuse an endpoint that is no plain HTTP URL, without showing what may be secret in it.

    Raises:
        ConfigError: it is not `http(s)://host[:port][/path]`.
    """
    if settings.endpoint_url is None:
        return
    try:
        parts = urlsplit(settings.endpoint_url)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        raise ConfigError("endpoint_url is not a URL", hint=_ENDPOINT_HINT) from None
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise ConfigError(
            "endpoint_url holds more than an address",
            hint="give credentials as access_key= and secret_key=, or better by AWS's own ways",
        )
    if not valid:
        raise ConfigError(
            "endpoint_url is not an HTTP address",
            hint=_ENDPOINT_HINT,
            endpoint_url=settings.endpoint_url,
        )


_ENDPOINT_HINT = 'write it as "http://127.0.0.1:9000" or "https://host"'
