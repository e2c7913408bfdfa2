"""What is in an answer of S3, checked before it is believed."""

from __future__ import annotations

import contextlib
import re
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from botocore.utils import parse_timestamp

from holdfast.errors import UnavailableError, UnsupportedError
from holdfast.objectstore.base import Blob, ObjectMeta, Page, check_document_size
from holdfast.objectstore.s3errors import Answer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from botocore.exceptions import ClientError

    from holdfast.clock import Clock

_SECONDS = re.compile(r"[0-9]{1,9}")
_RANGE = re.compile(r"bytes (?P<first>[0-9]{1,20})-[0-9]{1,20}/(?P<size>[0-9]{1,20})")


def read_meta(key: str, size: object, answer: Mapping[str, Any]) -> ObjectMeta:
    """Metadata from an answer, or from one entry of a listing; etags lose their quotes.

    Raises:
        UnavailableError: size or etag is missing, so this is no answer of an S3 server.
    """
    etag = answer.get("ETag")
    if not isinstance(size, int) or not isinstance(etag, str) or not etag:
        raise _not_s3(key)
    modified = answer.get("LastModified")
    modified_ms = round(modified.timestamp() * 1000) if isinstance(modified, datetime) else 0
    return ObjectMeta(key=key, size=size, etag=etag.strip('"'), modified_ms=modified_ms)


def parse_time(text: str) -> datetime:
    """A time as listings and headers have it; botocore's parser takes most of a listing's time.

    Raises:
        ValueError: it is none.
    """
    for parse in (_parse_iso, parsedate_to_datetime):
        try:
            found = parse(text)
        except (TypeError, ValueError):
            continue
        if found.tzinfo is not None:
            return found
    other: datetime = parse_timestamp(text)
    return other


def _parse_iso(text: str) -> datetime:
    return datetime.fromisoformat(f"{text[:-1]}+00:00" if text[-1:] == "Z" else text)


def read_page(answer: Mapping[str, Any], root: str) -> Page:
    """One page of a listing, its keys without the root.

    Raises:
        UnavailableError: it is no listing, or has no end, and must not pass for an empty one.
        UnsupportedError: its keys are in no order.
    """
    if "IsTruncated" not in answer:
        raise _not_s3(root)
    objects = tuple(
        read_meta(found.get("Key", "").removeprefix(root), found.get("Size"), found)
        for found in answer.get("Contents", ())
    )
    if any(one.key >= next_one.key for one, next_one in pairwise(objects)):
        raise UnsupportedError(
            "a listing is not in the order of its keys",
            hint="this store cannot hold checkpoints; run `holdfast certify` on it",
            prefix=root,
        )
    if answer["IsTruncated"] and not objects:
        raise UnavailableError(
            "a listing goes on and does not say where",
            hint="try later; on a bucket with versions, expire old delete markers (conf/STORES.md)",
            prefix=root,
        )
    return Page(objects=objects, more=bool(answer["IsTruncated"]))


def read_body(key: str, answer: Mapping[str, Any], *, start: int, length: int | None) -> bytes:
    """The body of an answer, as far as it was asked for.

    Raises:
        CorruptionError: the whole object was asked for, and is too large to be a document.
        UnavailableError: the answer is longer than the range that was asked for.
    """
    size = answer.get("ContentLength", 0)
    stop = size if length is None else start + length
    with contextlib.closing(answer["Body"]) as body:  # read to its end, its connection is kept
        if length is None:
            check_document_size(key, size)
        elif "ContentRange" in answer and size > length:
            raise UnavailableError("an answer holds another range", key=key, size=size)
        # A server that does not know ranges sends the whole object.
        found: bytes = body.read() if size <= stop else body.read(stop)
    return found


def read_blob(
    key: str, answer: Mapping[str, Any], body: bytes, *, start: int, length: int | None
) -> Blob:
    """The bytes that were asked for, if the answer is whole.

    Raises:
        UnavailableError: it broke off, or it is another range.
    """
    size = answer.get("ContentLength", len(body))
    given = answer.get("ContentRange")
    stop = None if length is None else start + length
    expected = size if given is not None or stop is None else min(size, stop)
    if len(body) != expected:
        raise UnavailableError("an answer broke off", key=key, expected=size, received=len(body))
    if given is None:  # the whole object, also where a server does not know ranges
        return Blob(body=body[start:stop], meta=read_meta(key, size, answer))
    span = _RANGE.fullmatch(given)
    if span is None or int(span["first"]) != start:
        raise UnavailableError("an answer holds another range", key=key, range=given)
    size = int(span["size"])
    if len(body) != min(size - start, size if length is None else length):
        raise UnavailableError("an answer holds another range", key=key, range=given)
    return Blob(body=body, meta=read_meta(key, size, answer))


def read_error(error: ClientError, clock: Clock) -> Answer:
    """An error as S3 tells it, in the body or the headers of its answer."""
    told: Mapping[str, Any] = error.response.get("Error", {})
    metadata: Mapping[str, Any] = error.response.get("ResponseMetadata", {})
    headers = metadata.get("HTTPHeaders", {})
    fields = {name: value for name, value in told.items() if isinstance(value, str)}
    fields.setdefault("Region", headers.get("x-amz-bucket-region", ""))
    return Answer(
        code=fields.get("Code", ""),
        status=metadata.get("HTTPStatusCode", 0),
        message=fields.get("Message", ""),
        fields=fields,
        retry_after_s=read_retry_after(headers, clock),
    )


def read_retry_after(headers: Mapping[str, str], clock: Clock) -> float:
    """How many seconds the server asks to wait, by a number or a date; 0 if it does not.

    A date is compared with the server's own clock where the answer tells it.
    """
    text = headers.get("retry-after", "").strip()
    if _SECONDS.fullmatch(text):
        return float(text)
    until = _parse_date(text)
    if until is None:
        return 0.0
    now = _parse_date(headers.get("date", ""))
    now_s = clock.now_ms() / 1000 if now is None else now.timestamp()
    return max(0.0, until.timestamp() - now_s)


def _parse_date(text: str) -> datetime | None:
    try:
        found = parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=timezone.utc)


def _not_s3(key: str) -> UnavailableError:
    return UnavailableError(
        "an answer lacks what every S3 server sends",
        hint="check endpoint_url: is it a proxy's or a console's address?",
        key=key,
    )
