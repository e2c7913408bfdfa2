"""What is in a successful answer of S3, checked before it is believed."""

from __future__ import annotations

import re
from datetime import datetime
from email.utils import parsedate_to_datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from botocore.utils import parse_timestamp

from holdfast.errors import UnavailableError, UnsupportedError
from holdfast.objectstore.base import Blob, ObjectMeta, Page

if TYPE_CHECKING:
    from collections.abc import Mapping

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


def read_blob(
    key: str, answer: Mapping[str, Any], body: bytes, *, start: int, length: int | None
) -> Blob:
    """The bytes that were asked for, if the answer is whole.

    Raises:
        UnavailableError: it broke off, or it is another range.
    """
    if len(body) != answer.get("ContentLength", len(body)):
        raise UnavailableError(
            "an answer broke off", key=key, expected=answer["ContentLength"], received=len(body)
        )
    given = answer.get("ContentRange")
    if given is None:  # the whole object, also where a server does not know ranges
        stop = None if length is None else start + length
        return Blob(body=body[start:stop], meta=read_meta(key, len(body), answer))
    span = _RANGE.fullmatch(given)
    if span is None or int(span["first"]) != start:
        raise UnavailableError("an answer holds another range", key=key, range=given)
    size = int(span["size"])
    if len(body) != min(size - start, size if length is None else length):
        raise UnavailableError("an answer holds another range", key=key, range=given)
    return Blob(body=body, meta=read_meta(key, size, answer))


def _not_s3(key: str) -> UnavailableError:
    return UnavailableError(
        "an answer lacks what every S3 server sends",
        hint="check endpoint_url: is it a proxy's or a console's address?",
        key=key,
    )
