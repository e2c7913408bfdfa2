"""What every document of ours begins and ends with: a format, a writer and a checksum.

The checksum is the last field and covers the exact bytes, so one flipped bit anywhere is found,
and so is a document that some other program parsed and wrote again.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from holdfast.errors import ConfigError, CorruptionError
from holdfast.ids import Writer

if TYPE_CHECKING:
    from holdfast.manifest.fields import Fields

FORMAT = 1

_FIELD = b',"checksum":"'
_HEX_DIGITS = 64


def seal(body: bytes, *, depth: int = 1) -> bytes:
    """Insert the checksum before the closing braces; `depth` of them end the document."""
    closing = b"}" * depth
    digest = hashlib.sha256(body).hexdigest().encode()
    return b"".join((body[:-depth], _FIELD, digest, b'"', closing))


def check_seal(data: bytes, what: str, *, depth: int = 1) -> None:
    """Whether the document is byte for byte what was sealed.

    Raises:
        CorruptionError: it is not.
    """
    closing = b"}" * depth
    start = len(data) - len(_FIELD) - _HEX_DIGITS - 1 - depth
    digest_at = start + len(_FIELD)
    tail = data[digest_at + _HEX_DIGITS :]
    if start < 0 or data[start:digest_at] != _FIELD or tail != b'"' + closing:
        raise CorruptionError(f"{what} does not end in a checksum", size=len(data))
    hasher = hashlib.sha256(memoryview(data)[:start])
    hasher.update(closing)
    expected = data[digest_at : digest_at + _HEX_DIGITS].decode(errors="replace")
    if hasher.hexdigest() != expected:
        raise CorruptionError(
            f"{what} has another checksum", expected=expected, actual=hasher.hexdigest()
        )


def check_format(own: Fields, what: str) -> None:
    """Refuse a newer format before anything else is looked at.

    Raises:
        ConfigError: a newer holdfast wrote this.
    """
    version = own.text("version")
    if own.integer("format") > FORMAT:
        raise ConfigError(
            f"{what} was written by a newer holdfast", hint=f"pip install 'holdfast>={version}'"
        )


def writer_to_json(writer: Writer) -> dict[str, Any]:
    return {
        "host": writer.host,
        "application": writer.application,
        "pid": writer.pid,
        "user": writer.user,
    }


def writer_from_json(fields: Fields) -> Writer:
    return Writer(
        host=fields.text("host"),
        application=fields.text("application"),
        pid=fields.integer("pid"),
        user=fields.text("user"),
    )
