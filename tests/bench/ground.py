"""What a bench stands on: an S3 server that counts, a proxy before it, and jars."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import boto3

from tests.bench import floor, latency
from tests.bench.contenders import LATENCY_MS, Places, buckets
from tests.s3 import s3a, server

if TYPE_CHECKING:
    from contextlib import ExitStack

    from rich.console import Console

_SHARED_MEMORY = "/dev/shm"


def set_up(stack: ExitStack, choice: server.Choice, console: Console) -> Places:
    """The server with its buckets, the proxy before it, and the jars."""
    if choice.kind not in ("binary", "container"):
        raise SystemExit(
            "the bench reads MinIO's own metrics: install Go or Docker, not " + choice.name
        )
    folder, shared = (
        Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="holdfast-bench-", dir=place)))
        for place in (None, _SHARED_MEMORY)
    )
    (folder / "minio").mkdir()
    running = stack.enter_context(server.run(choice, folder / "minio"))
    client = boto3.client(
        "s3",
        endpoint_url=running.endpoint,
        aws_access_key_id=running.access_key,
        aws_secret_access_key=running.secret_key,
        region_name="us-east-1",
    )
    for bucket in buckets():
        client.create_bucket(Bucket=bucket)
    return Places(
        folder=folder,
        server=running,
        proxy=stack.enter_context(latency.running(running.endpoint, LATENCY_MS / 1000)),
        floor_jar=floor.build(folder / "bench.jar"),
        shared_memory=shared,
        s3a_jars=s3a.jars(console.print),
    )
