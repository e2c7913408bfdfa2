"""Uploads in parts on a real server: each part is signed by its hash, and none is left open."""

from __future__ import annotations

import hashlib
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Any

import pytest

from holdfast.errors import MisuseError, NotFoundError, UnavailableError
from holdfast.objectstore import ObjectStore, innermost, parted_of
from holdfast.spark import run
from holdfast.spark.host import Host
from holdfast.spark.options import parse_options
from holdfast.spark.tickets import PART_BYTES
from tests.trust import trusted

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from holdfast.objectstore import Parted, Presigned

pytestmark = pytest.mark.s3

PIECES = (b"a" * (5 << 20), b"b" * (5 << 20), b"c" * 100)  # S3 wants 5 MiB of all but the last
HASHES = tuple(hashlib.sha256(piece).hexdigest() for piece in PIECES)


@pytest.fixture
def parted(store: ObjectStore) -> Parted:
    found = parted_of(store)
    assert found is not None
    return found


@pytest.fixture
def host(s3_url: Callable[..., str], tmp_path: Path) -> Host:
    conf = {"spark.holdfast.store": trusted(s3_url()), "spark.holdfast.spool.dir": str(tmp_path)}
    return Host(parse_options(conf), application="test")


def send(part: Presigned, body: bytes) -> str:
    request = urllib.request.Request(part.url, body, dict(part.headers), method="PUT")
    with urllib.request.urlopen(request, timeout=30) as answer:
        return str(answer.headers["ETag"])


def open_uploads(store: ObjectStore, key: str) -> int:
    """Uploads of this key that were begun, and neither finished nor aborted."""
    inner: Any = innermost(store)
    found = inner._client.list_multipart_uploads(Bucket=inner._bucket, Prefix=inner._prefix + key)
    return len(found.get("Uploads", []))


def test_parts_become_one_object(store: ObjectStore, parted: Parted) -> None:
    """With tickets from before and after their renewal."""
    upload = parted.begin("big", HASHES, expires_s=60)
    first = send(upload.parts[0], PIECES[0])
    renewed = parted.renew(upload, expires_s=60)
    tags = [first, send(renewed.parts[1], PIECES[1]), send(renewed.parts[2], PIECES[2])]
    assert open_uploads(store, "big") == 1
    parted.finish(renewed, tags)
    assert store.get("big").body == b"".join(PIECES)
    assert open_uploads(store, "big") == 0


def test_what_is_finished_twice_is_finished(store: ObjectStore, parted: Parted) -> None:
    """The first answer may have been lost; and then nothing is left to take back."""
    upload = parted.begin("twice", HASHES[2:], expires_s=60)
    tags = [send(upload.parts[0], PIECES[2])]
    parted.finish(upload, tags)
    parted.finish(upload, tags)
    parted.abort(upload)
    assert store.get("twice").body == PIECES[2]


def test_what_was_taken_back_cannot_be_finished(parted: Parted) -> None:
    """It is not there, and nobody is told that it was."""
    upload = parted.begin("gone", HASHES[2:], expires_s=60)
    tags = [send(upload.parts[0], PIECES[2])]
    parted.abort(upload)
    with pytest.raises(NotFoundError):
        parted.finish(upload, tags)


def test_a_part_is_for_its_own_bytes(parted: Parted) -> None:
    """The server refuses any others."""
    upload = parted.begin("other", HASHES, expires_s=60)
    with pytest.raises(urllib.error.HTTPError) as refused:
        send(upload.parts[2], b"d" * 100)
    refused.value.close()  # or its socket's end fails the test that runs when it is collected
    assert refused.value.code == 400
    parted.abort(upload)


def test_a_start_takes_back_what_the_run_before_it_did_not_finish(
    store: ObjectStore, host: Host
) -> None:
    """In the same driver: nobody else tells that run's end."""
    ticket = host.sign("/q", host.start("", "q").claim, 2 * PART_BYTES + 1, ["ab" * 32] * 3)
    begun = open_uploads(store, f"q/{ticket.key}")
    host.start("", "q")
    host.close()
    assert (begun, open_uploads(store, f"q/{ticket.key}")) == (1, 0)


def test_a_run_that_ends_takes_back_what_nobody_finished(store: ObjectStore, host: Host) -> None:
    """An executor that died in mid-upload leaves nothing to pay for."""
    claim = host.start("", "q").claim
    hashes = ["ab" * 32] * 3
    ticket = host.sign("/q", claim, 2 * PART_BYTES + 1, hashes)
    assert ticket.upload is not None
    with pytest.raises(MisuseError, match="begun with other bytes"):
        host.sign("/q", claim, 2 * PART_BYTES + 2, hashes, begun=ticket.key)
    begun = open_uploads(store, f"q/{ticket.key}")
    host.end("/q", claim)
    host.close()
    assert (begun, open_uploads(store, f"q/{ticket.key}")) == (1, 0)


def test_a_query_holds_so_many_uploads_open_and_no_more(
    store: ObjectStore, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next one is refused before it is begun; a file in one piece is not of them."""
    monkeypatch.setattr(run, "UPLOADS_OPEN_MAX", 2)
    claim = host.start("", "q").claim
    size, hashes = 2 * PART_BYTES, ["ab" * 32] * 3
    keys = [host.sign("/q", claim, size, hashes).key for _ in range(2)]
    with pytest.raises(UnavailableError, match="limit=`2`"):
        host.sign("/q", claim, size, hashes)
    assert [open_uploads(store, f"q/{key}") for key in keys] == [1, 1]
    assert host.sign("/q", claim, 1, hashes[:1]).kind == "http"
    assert host.sign("/q", claim, size, hashes, begun=keys[0]).key == keys[0]
    host.end("/q", claim)
    host.close()
