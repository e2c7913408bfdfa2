"""What Holdfast changes in a client of botocore: its configuration, headers and connections."""

from __future__ import annotations

import base64
import hashlib
from typing import TYPE_CHECKING, Any, Literal

from botocore.config import Config

from holdfast.objectstore.s3http import limit_connections

if TYPE_CHECKING:
    from collections.abc import Mapping

    from botocore.awsrequest import AWSRequest
    from mypy_boto3_s3.client import S3Client

    from holdfast.objectstore.base import Body
    from holdfast.settings import S3Settings

_NEWER_CHECKSUMS = ("x-amz-checksum-", "x-amz-sdk-checksum-")


def client_config(settings: S3Settings) -> Config:
    """No retries of its own; path style and plain checksums for anything that is not AWS."""
    foreign = settings.endpoint_url is not None
    path_style = foreign if settings.path_style is None else settings.path_style
    checksums: Literal["when_required", "when_supported"] = (
        "when_required" if foreign else "when_supported"
    )
    return Config(
        signature_version="s3v4",
        retries={"total_max_attempts": 1},
        connect_timeout=settings.connect_timeout_s,
        read_timeout=settings.read_timeout_s,
        max_pool_connections=settings.connections_max,
        request_checksum_calculation=checksums,
        response_checksum_validation=checksums,
        s3={
            "addressing_style": "path" if path_style else "virtual",
            "payload_signing_enabled": True,
        },
    )


def adjust_client(client: S3Client, settings: S3Settings, put_headers: Mapping[str, str]) -> None:
    """Send these headers with every put, and keep to the limits of each request."""

    def adjust_put(request: AWSRequest, **_: object) -> None:
        for name, value in put_headers.items():
            request.headers[name] = value
        del request.headers["Expect"]  # which costs a round trip more; most bodies are small

    limit_connections(client)
    client.meta.events.register("before-sign.s3.PutObject", adjust_put)
    client.meta.events.register("before-sign.s3.CreateMultipartUpload", adjust_put)
    if settings.endpoint_url is not None:
        client.meta.events.register("before-sign.s3.DeleteObjects", _adjust_delete)
        client.meta.events.register("before-call.s3", _stay_here)


def content_md5(body: Body) -> str:
    """The value of the header Content-MD5."""
    return base64.b64encode(hashlib.md5(body, usedforsecurity=False).digest()).decode()


def _stay_here(params: dict[str, Any], **_: object) -> None:
    """Follow no redirect as AWS does: botocore would look for a region, without end."""
    params.get("context", {}).get("s3_redirect", {})["redirected"] = True


def _adjust_delete(request: AWSRequest, **_: object) -> None:
    """Send Content-MD5 in place of the newer checksums, which many servers refuse."""
    for name in [name for name in request.headers if name.lower().startswith(_NEWER_CHECKSUMS)]:
        del request.headers[name]
    request.headers["Content-MD5"] = content_md5(request.data or b"")
