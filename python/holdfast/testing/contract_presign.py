"""The part of the contract that needs HTTP: requests that somebody else sends."""

from __future__ import annotations

import urllib.error
import urllib.request
from typing import TYPE_CHECKING

from holdfast.testing.contract_checks import equal, refused, require

if TYPE_CHECKING:
    from holdfast.objectstore.base import ObjectStore, Presigned

_KEY = "signed/é b+c"
_TIMEOUT_S = 30


def check(store: ObjectStore) -> None:
    """A presigned put and get work without credentials, for their own key and method only."""
    put = store.presign("PUT", _KEY, expires_s=60)
    send(put, b"by a stranger")
    equal(store.get(_KEY).body, b"by a stranger")
    get = store.presign("GET", _KEY, expires_s=60)
    equal(send(get), b"by a stranger")
    require(put.expires_at_ms > 0, "a presigned request does not say when it ends")
    refused(urllib.error.HTTPError, lambda: send(put, b"elsewhere", url=_other_key(put)))
    refused(urllib.error.HTTPError, lambda: send(get, b"overwritten", method="PUT"))
    equal(store.get(_KEY).body, b"by a stranger")


def send(signed: Presigned, body: bytes | None = None, *, url: str = "", method: str = "") -> bytes:
    """Send a presigned request as its holder does; returns the answer's body.

    Raises:
        urllib.error.HTTPError: the store refuses it.
    """
    # Without a type of our own, urllib would say that the body is a form.
    headers = {"Content-Type": "application/octet-stream", **signed.headers}
    request = urllib.request.Request(  # noqa: S310 - the URL comes from the store itself
        url or signed.url, data=body, method=method or signed.method, headers=headers
    )
    try:
        with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as answer:  # noqa: S310 - as above
            received: bytes = answer.read()
            return received
    except urllib.error.HTTPError as error:
        error.close()
        raise


def _other_key(signed: Presigned) -> str:
    path, _, query = signed.url.partition("?")
    return f"{path}x?{query}"
