"""Uploads in parts, for files beyond what one put takes: begun and finished here, sent by others.

Each part is signed with its own hash, so that S3 refuses other bytes. A part that was never
finished or aborted costs storage until a lifecycle rule takes it: conf/STORES.md has one.
"""

from __future__ import annotations

import base64
import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from holdfast.errors import NotFoundError
from holdfast.objectstore.base import PartedUpload, Presigned, check_key

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from holdfast.objectstore.base import ObjectMeta


class PartedUploads:
    """The steps over one bucket; `told` turns what the client raises into our errors."""

    def __init__(
        self,
        client: Any,  # noqa: ANN401 - botocore makes its class when it runs
        bucket: str,
        prefix: str,
        told: Callable[[str], AbstractContextManager[None]],
        head: Callable[[str], ObjectMeta],
    ) -> None:
        self._client = client
        self._bucket = bucket
        self._prefix = prefix
        self._told = told
        self._head = head

    def begin(self, key: str, sha256s: Sequence[str], *, expires_s: int) -> PartedUpload:
        """Begin an upload, and sign a put for each part by its hash; one request."""
        place = {"Bucket": self._bucket, "Key": self._prefix + check_key(key)}
        with self._told(key):
            begun = self._client.create_multipart_upload(**place, ChecksumAlgorithm="SHA256")
        upload = PartedUpload(key=key, id=begun["UploadId"], sha256s=tuple(sha256s), parts=())
        return self.renew(upload, expires_s=expires_s)

    def renew(self, upload: PartedUpload, *, expires_s: int) -> PartedUpload:
        """Sign a put for each part by its hash; no request."""
        place = {"Bucket": self._bucket, "Key": self._prefix + upload.key}
        with self._told(upload.key):
            parts = tuple(
                self._signed(place, upload.id, number, sha256, expires_s)
                for number, sha256 in enumerate(upload.sha256s, 1)
            )
        return replace(upload, parts=parts)

    def finish(self, upload: PartedUpload, etags: Sequence[str]) -> None:
        """Make one object of the parts; one request, and one more where it was done before."""
        parts = [
            {"PartNumber": number, "ETag": etag, "ChecksumSHA256": _base64(sha256)}
            for number, (etag, sha256) in enumerate(zip(etags, upload.sha256s, strict=True), 1)
        ]
        try:
            with self._told(upload.key):
                self._client.complete_multipart_upload(
                    Bucket=self._bucket,
                    Key=self._prefix + upload.key,
                    UploadId=upload.id,
                    MultipartUpload={"Parts": parts},
                )
        except NotFoundError:
            # An earlier try was answered, and the answer lost: nobody else writes to this key.
            self._head(upload.key)

    def abort(self, upload: PartedUpload) -> None:
        """Take back what was sent; one request."""
        with contextlib.suppress(NotFoundError), self._told(upload.key):
            self._client.abort_multipart_upload(
                Bucket=self._bucket, Key=self._prefix + upload.key, UploadId=upload.id
            )

    def _signed(
        self, place: Mapping[str, str], upload_id: str, number: int, sha256: str, expires_s: int
    ) -> Presigned:
        checksum = _base64(sha256)
        url = self._client.generate_presigned_url(
            "upload_part",
            Params={
                **place,
                "UploadId": upload_id,
                "PartNumber": number,
                "ChecksumSHA256": checksum,
            },
            ExpiresIn=expires_s,
        )
        headers = {"x-amz-checksum-sha256": checksum}
        return Presigned(method="PUT", url=url, headers=headers, expires_at_ms=0)


def _base64(sha256: str) -> str:
    return base64.b64encode(bytes.fromhex(sha256)).decode()
