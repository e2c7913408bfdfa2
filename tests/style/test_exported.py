"""The package's front door: every name that is promised is there, typed, and nothing heavy."""

from __future__ import annotations

import subprocess
import sys

import holdfast

PROMISED = [
    "Chain",
    "CheckpointBatcher",
    "CheckpointId",
    "CheckpointManifest",
    "CheckpointManifestV2",
    "CheckpointPaths",
    "CheckpointStore",
    "DistributedCheckpoints",
    "LocalStore",
    "MemoryStore",
    "MeteredStore",
    "RetryingStore",
    "S3Store",
    "SourceCheckpoint",
    "SourceCheckpoints",
    "certify",
    "decode_batch",
    "layout",
    "open_store",
    "remove_sources",
    "start_sources",
]


def test_every_promised_name_is_exported() -> None:
    """Users import from `holdfast` and from nowhere else."""
    assert set(PROMISED) <= set(holdfast.__all__)


def test_every_exported_name_is_there() -> None:
    """`__all__` names what exists, once."""
    assert all(hasattr(holdfast, name) for name in holdfast.__all__)
    assert len(set(holdfast.__all__)) == len(holdfast.__all__)


def test_importing_holdfast_brings_no_boto3_and_no_spark() -> None:
    """The CLI on a local store must not wait for them."""
    code = "import sys, holdfast; print([m for m in ('boto3', 'pyspark') if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
