"""Stores by URL: open one, show one without its secrets, ask one whether it is there.

`file:///path` · `s3://bucket/prefix?option=value&…` (the names of `S3Settings`) · `memory:`
Percent escapes are decoded, so that a secret, a prefix or a path may hold any character; a plus
is a plus, for secrets have them.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, unquote, urlsplit

from holdfast.clock import SYSTEM_CLOCK, Clock
from holdfast.errors import ConfigError
from holdfast.objectstore import s3options
from holdfast.objectstore.base import innermost
from holdfast.objectstore.local import LocalStore
from holdfast.objectstore.memory import MemoryStore
from holdfast.objectstore.metered import Meter, MeteredStore
from holdfast.objectstore.retrying import RetryingStore

if TYPE_CHECKING:
    from holdfast.objectstore.base import ObjectStore
    from holdfast.settings import RetrySettings

_EXAMPLES = 'write "file:///path", "s3://bucket/prefix" or "memory:"'
# The second form is a secret with "/" or "?" in it, which should have been escaped.
_USER = re.compile(
    r"([A-Za-z][A-Za-z0-9+.-]*:/*)"
    r"(?:[^/?#\s]*|[^/?#\s@]*:(?![0-9]+(?:[/?#\s]|$))[^\s]*)@"
)
_OPTION = re.compile(r"(?P<lead>[?&;])(?P<name>[^=&;\s]+)=(?P<value>[^&;#\s]*)")
_HIDDEN = "***"
_SECRET = ("access_key", "secret_key")


def open_store(
    url: str,
    *,
    meter: Meter | None = None,
    retry: RetrySettings | None = None,
    clock: Clock = SYSTEM_CLOCK,
) -> ObjectStore:
    """The store at this URL; nothing is sent yet (`probe` does).

    An S3 store is retried and metered. A local or memory store fails for good when it fails, so
    it is never retried, and metered only where a meter is given. Each `memory:` is a new store.

    Raises:
        ConfigError: the URL is not one of a store; the message has no secrets.
    """
    url = url.strip()
    parts = _split(url)
    if parts.scheme == "s3":
        backend = _open_s3(url, parts, clock)
        return RetryingStore(MeteredStore(backend, meter), settings=retry, clock=clock)
    if parts.scheme == "file":
        plain: ObjectStore = LocalStore(_local_path(url, parts), clock=clock)
    else:
        plain = _open_memory(url, parts, clock)
    return plain if meter is None else MeteredStore(plain, meter)


def with_meter(store: ObjectStore, meter: Meter) -> ObjectStore:
    """The same store, counted by a meter of its own, every try of a request included."""
    counted = MeteredStore(innermost(store), meter)
    return store.around(counted) if isinstance(store, RetryingStore) else counted


def probe(store: ObjectStore) -> None:
    """Ask for one key: a missing bucket, refused access or wrong address is told at once.

    Costs one list request. A local directory that is not there yet is no error.

    Raises:
        ConfigError: there is no such bucket, or not here.
        PermissionDeniedError: the credentials are missing, expired or not allowed to list.
        UnavailableError: nothing answers.
    """
    store.list(limit=1)


def redact(text: str) -> str:
    """Any text without the credentials of the URLs in it.

    Of a URL's options only those known to be harmless keep their value.
    """
    return _OPTION.sub(_shown, _USER.sub(rf"\1{_HIDDEN}@", text))


def without_credentials(url: str) -> str:
    """The same URL with no key and no secret in it, for where others can read."""
    head, mark, query = _USER.sub(r"\1", url).partition("?")
    kept = [part for part in query.split("&") if unquote(part.partition("=")[0]) not in _SECRET]
    return head + (mark + "&".join(kept) if kept != [""] and kept else "")


def _shown(option: re.Match[str]) -> str:
    harmless = unquote(option["name"]) in s3options.SHOWN and "@" not in unquote(option["value"])
    value = option["value"] if harmless else _HIDDEN
    return f"{option['lead']}{option['name']}={value}"


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise _wrong("a store's URL cannot be read", url) from error
    if parts.scheme not in ("s3", "file", "memory"):
        raise _unknown_scheme(url, parts.scheme)
    if parts.fragment:
        raise _wrong("a store's URL has no fragment", url, hint='write "#" as "%23"')
    return parts


def _wrong(message: str, url: str, *, hint: str = _EXAMPLES) -> ConfigError:
    return ConfigError(message, hint=hint, url=redact(url))


def _unknown_scheme(url: str, scheme: str) -> ConfigError:
    if not url:
        return ConfigError("no store is given", hint=_EXAMPLES)
    if re.match(r"[A-Za-z]:[\\/]|\\\\", url):
        return _wrong("a path is not a URL", url, hint='write it as "file:///C:/folder"')
    if scheme in ("s3a", "s3n"):
        return _wrong(f"{scheme}: is Hadoop's name", url, hint='write "s3://bucket/prefix"')
    if scheme:
        return _wrong(f"no store speaks {scheme}:", url)
    if url.startswith("/"):
        return _wrong("a path is not a URL", url, hint=f'write "file://{redact(url)}"')
    return _wrong("a store's URL begins with its kind", url)


def _open_memory(url: str, parts: SplitResult, clock: Clock) -> MemoryStore:
    if parts.netloc or parts.path or parts.query:
        raise _wrong("a memory store has no name", url, hint='write "memory:"')
    return MemoryStore(clock=clock)


def _local_path(url: str, parts: SplitResult) -> str:
    if parts.query:
        raise _wrong("a local store has no options", url, hint='write "?" as "%3F"')
    path = unquote(parts.path)
    if parts.netloc not in ("", "localhost") or not path.startswith("/"):
        raise _wrong("a local store's path is absolute", url, hint='three slashes: "file:///path"')
    if not path.strip("/"):
        raise _wrong("a local store needs a directory of its own", url)
    if "\0" in path:
        raise _wrong("a path has no NUL", url)
    return path


def _open_s3(url: str, parts: SplitResult, clock: Clock) -> ObjectStore:
    # boto3 takes longer to import than all the rest, and local stores never need it.
    from holdfast.objectstore.s3 import S3Store  # noqa: PLC0415

    user, _, bucket = parts.netloc.rpartition("@")
    if not bucket:
        raise _wrong("an S3 URL names a bucket", url, hint='write "s3://bucket/prefix"')
    if ":" in bucket:
        raise _server_for_bucket(url)
    settings = s3options.parse_options(_options(parts.query))
    if user:
        access_key, _, secret_key = map(unquote, user.partition(":"))
        settings = replace(settings, access_key=access_key, secret_key=secret_key)
    if bool(settings.access_key) != bool(settings.secret_key):
        hint = "give both access_key= and secret_key=, or none of them"
        raise _wrong("a key and its secret go together", url, hint=hint)
    return S3Store(bucket, unquote(parts.path), settings=settings, clock=clock)


def _server_for_bucket(url: str) -> ConfigError:
    if redact(url) != url:
        hint = 'in a secret, write "/" as "%2F", "@" as "%40" and "?" as "%3F"'
        return _wrong("an S3 URL cannot be read", url, hint=hint)
    hint = 'write "s3://bucket/prefix?endpoint_url=http://host:port"'
    return _wrong("an S3 URL begins with the bucket, not with a server", url, hint=hint)


def _options(query: str) -> list[tuple[str, str]]:
    """Names and values, in the order given."""
    pairs = (text.partition("=") for text in query.split("&") if text)
    return [(unquote(name), unquote(value)) for name, _, value in pairs]
