"""Hadoop's S3A for Spark: its jars, fetched once by Maven, kept in the user's cache."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.s3.server import Server

HADOOP_AWS = "3.5.0"
HADOOP_CLOUD = "4.1.1"  # the newest that is published; it runs on the Spark that is installed
MANAGER = "spark.sql.streaming.checkpointFileManagerClass"
ABORTABLE = "org.apache.spark.internal.io.cloud.AbortableStreamBasedCheckpointFileManager"

_FETCH_SECONDS_MAX = 1800
_POM = f"""\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>holdfast</groupId>
  <artifactId>s3a</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencies>
    <dependency>
      <groupId>org.apache.hadoop</groupId>
      <artifactId>hadoop-aws</artifactId>
      <version>{HADOOP_AWS}</version>
    </dependency>
    <dependency>
      <groupId>org.apache.spark</groupId>
      <artifactId>spark-hadoop-cloud_2.13</artifactId>
      <version>{HADOOP_CLOUD}</version>
      <exclusions>
        <exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion>
      </exclusions>
    </dependency>
  </dependencies>
</project>
"""


class NoJarsError(Exception):
    """The jars cannot be had."""


def cache_directory() -> Path:
    """Where the jars are kept, by version."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "holdfast" / f"s3a-{HADOOP_AWS}-{HADOOP_CLOUD}"


def jars(say: Callable[[str], None]) -> list[Path]:
    """S3A, the AWS SDK and Spark's committers; fetched if they are not there.

    Raises:
        NoJarsError: there is no Maven, or it cannot fetch them.
    """
    target = cache_directory()
    target.parent.mkdir(parents=True, exist_ok=True)
    with (target.parent / "s3a.lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not target.exists():
            _fetch(target, say)
    return sorted(target.glob("*.jar"))


def session_conf(
    jar_files: Sequence[Path], server: Server, *, endpoint: str = ""
) -> dict[str, str]:
    """S3A as its documentation sets it up, on a server or on a proxy before it."""
    return {
        "spark.jars": ",".join(str(jar) for jar in jar_files),
        "spark.hadoop.fs.s3a.endpoint": endpoint or server.endpoint,
        "spark.hadoop.fs.s3a.endpoint.region": "us-east-1",
        "spark.hadoop.fs.s3a.path.style.access": "true",
        "spark.hadoop.fs.s3a.connection.ssl.enabled": "false",
        "spark.hadoop.fs.s3a.access.key": server.access_key,
        "spark.hadoop.fs.s3a.secret.key": server.secret_key,
    }


def _fetch(target: Path, say: Callable[[str], None]) -> None:
    """Fetch beside the target and rename, so that half of the jars are never used."""
    maven = shutil.which("mvn")
    if maven is None:
        raise NoJarsError("there is no Maven; install it to compare with S3A")
    say("fetching S3A's jars once with Maven, some 700 MB …")
    with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
        folder = Path(scratch)
        (folder / "pom.xml").write_text(_POM)
        goal = ["dependency:copy-dependencies", "-DincludeScope=runtime"]
        done = subprocess.run(
            [maven, "-q", "-B", *goal, f"-DoutputDirectory={folder / 'jars'}"],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=_FETCH_SECONDS_MAX,
            check=False,
        )
        if done.returncode:
            raise NoJarsError(f"Maven could not fetch S3A's jars: {done.stdout[-500:]}")
        (folder / "jars").rename(target)
