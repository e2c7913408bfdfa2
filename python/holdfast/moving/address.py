"""Addresses of checkpoints that Spark keeps itself: a local directory, or a prefix on S3.

A path, `file:///path`, `s3://bucket/prefix?option=value&…` with the options of a store's URL, or
Hadoop's `s3a://` for the same.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from holdfast.errors import ConfigError
from holdfast.objectstore import redact

_SCHEME = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]+):")
_S3 = ("s3", "s3a", "s3n")
_EXAMPLES = 'write a path, "file:///path" or "s3://bucket/prefix"'


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A directory, or the URL of a prefix on S3; `location` is what Spark calls it."""

    location: str
    folder: Path | None = None
    url: str = ""

    @property
    def shown(self) -> str:
        """For people: without options, which may be secrets."""
        return self.location if self.folder is None else str(self.folder)


def parse_address(text: str) -> Address:
    """What this text means.

    Raises:
        ConfigError: it is neither on a local disk nor on S3.
    """
    text = text.strip()
    found = _SCHEME.match(text)
    scheme = found["scheme"].lower() if found else ""
    if not text:
        raise ConfigError("no checkpoint is named", hint=_EXAMPLES)
    if not scheme:
        return _folder(Path(text))
    if scheme == "file":
        return _folder(_path_of(text))
    if scheme in _S3:
        return _bucket(text)
    raise ConfigError(
        f"checkpoints are not moved to or from {scheme}:", hint=_hint(scheme), address=redact(text)
    )


def _folder(path: Path) -> Address:
    whole = path.absolute()
    return Address(folder=whole, location=f"file://{whole}")


def _path_of(url: str) -> Path:
    parts = urlsplit(url)
    if parts.netloc not in ("", "localhost") or not parts.path.startswith("/") or parts.query:
        raise ConfigError("a local path is absolute in a URL", hint=_EXAMPLES, address=redact(url))
    return Path(unquote(parts.path))


def _bucket(text: str) -> Address:
    """Spark's own name for S3 is s3a, whichever way it is written here."""
    url = f"s3:{text.partition(':')[2]}"
    parts = urlsplit(url)
    bucket = parts.netloc.rpartition("@")[2]
    if not bucket or not parts.path.strip("/"):
        raise ConfigError(
            "a checkpoint on S3 has a bucket and a prefix",
            hint='write "s3://bucket/prefix"',
            address=redact(text),
        )
    return Address(url=url, location=f"s3a://{bucket}/{unquote(parts.path).strip('/')}")


def _hint(scheme: str) -> str:
    if scheme == "holdfast":
        return "this is a query of Holdfast already: `holdfast clone` begins another with its state"
    if scheme in ("hdfs", "webhdfs", "viewfs"):
        return "copy it with `hdfs dfs -get` to a local disk, or with `hadoop distcp` to S3"
    return f"copy it to a local disk or to S3 with that system's own tool; {_EXAMPLES}"
