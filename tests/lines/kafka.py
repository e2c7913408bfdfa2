"""Spark's connector for Kafka, fetched once by Maven and kept in the user's cache."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

# The newest of each that is published; they load on the Spark that is installed.
ARTIFACTS = (
    "org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0",
    "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.0.0",
    "org.apache.kafka:kafka-clients:3.9.1",
    "org.apache.commons:commons-pool2:2.12.0",
)
_FETCH_SECONDS_MAX = 600


class NoJarsError(Exception):
    """The jars cannot be had."""


def kafka_jars() -> list[Path]:
    """The connector and what it needs beside Spark itself; fetched if they are not there.

    Raises:
        NoJarsError: there is no Maven, or it cannot fetch them.
    """
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    target = base / "holdfast" / "kafka-4.2.0"
    if not target.exists():
        _fetch(target)
    return sorted(target.glob("*.jar"))


def _fetch(target: Path) -> None:
    """Fetch beside the target and rename, so that half of the jars are never used."""
    maven = shutil.which("mvn")
    if maven is None:
        raise NoJarsError("there is no Maven to fetch Spark's connector for Kafka")
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
        jars = Path(scratch) / "jars"
        for artifact in ARTIFACTS:
            done = subprocess.run(
                [maven, "-q", "-B", "dependency:copy", f"-Dartifact={artifact}",
                 f"-DoutputDirectory={jars}", "-Dtransitive=false"],
                cwd=scratch, capture_output=True, text=True,
                timeout=_FETCH_SECONDS_MAX, check=False,
            )  # fmt: skip
            if done.returncode:
                raise NoJarsError(f"Maven could not fetch {artifact}: {done.stdout[-500:]}")
        jars.rename(target)
