"""Who is measured, and on what: each contender's Spark settings and checkpoint locations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode

from tests.bench import floor
from tests.s3 import s3a

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.s3.server import Server

FLOOR, SPARK, RENAME, ABORTABLE = "floor", "spark-local", "s3a-rename", "s3a-abortable"
LOCAL, S3 = "holdfast-local", "holdfast-s3"
TITLES = {
    FLOOR: "floor: in memory",
    SPARK: "Spark, local disk",
    RENAME: "S3A, rename (the default)",
    ABORTABLE: "S3A, abortable",
    LOCAL: "Holdfast, local store",
    S3: "Holdfast, MinIO",
}
ON_S3 = (RENAME, ABORTABLE, S3)
HDFS, ROCKSDB = "hdfs", "rocksdb"
LOCAL_MASTER, CLUSTER_MASTER = "local[2]", "local-cluster[2,1,1024]"
_PROVIDERS = "org.apache.spark.sql.execution.streaming.state."
_PROVIDER_CONF = {
    HDFS: {
        "spark.sql.streaming.stateStore.providerClass": f"{_PROVIDERS}HDFSBackedStateStoreProvider"
    },
    ROCKSDB: {
        "spark.sql.streaming.stateStore.providerClass": f"{_PROVIDERS}RocksDBStateStoreProvider",
        "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    },
}


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One way to run the query; `rounds` of `batches` each, after `warmup` batches.

    Requests are counted over `counted` batches; over `counted_ours` where they are Holdfast's: an
    hour's at a trigger of 10 s, with hints, full manifests and the first retention after a start.
    """

    name: str
    title: str
    partitions: int
    contenders: Sequence[str]
    rounds: int
    batches: int
    warmup: int
    counted: int
    counted_ours: int = 3600 // 10
    provider: str = HDFS
    latency_ms: int = 0
    master: str = LOCAL_MASTER

    @property
    def is_cluster(self) -> bool:
        """Whether executors have processes of their own."""
        return self.master != LOCAL_MASTER

    def conf(self) -> dict[str, str]:
        """What the session is set to before each start."""
        return {
            "spark.sql.shuffle.partitions": str(self.partitions),
            **_PROVIDER_CONF[self.provider],
        }


_ALL = (FLOOR, SPARK, RENAME, ABORTABLE, LOCAL, S3)
LATENCY_MS = 30
SETTINGS = (
    Setting(
        name="hdfs-10",
        title="10 partitions",
        partitions=10,
        contenders=_ALL,
        rounds=3,
        batches=15,
        warmup=40,
        counted=20,
    ),
    Setting(
        name="hdfs-200",
        title="200 partitions",
        partitions=200,
        contenders=_ALL,
        rounds=3,
        batches=8,
        warmup=6,
        counted=10,
    ),
    Setting(
        name="rocksdb-10",
        title="10 partitions, RocksDB with changelog",
        partitions=10,
        contenders=_ALL,
        rounds=2,
        batches=12,
        warmup=10,
        counted=20,
        provider=ROCKSDB,
    ),
    Setting(
        name="hdfs-10-far",
        title=f"10 partitions, {LATENCY_MS} ms more for each request",
        partitions=10,
        contenders=(FLOOR, RENAME, ABORTABLE, S3),
        rounds=2,
        batches=6,
        warmup=2,
        counted=0,
        latency_ms=LATENCY_MS,
    ),
    Setting(
        name="cluster-10",
        title="10 partitions, two executors in processes of their own",
        partitions=10,
        contenders=(FLOOR, ABORTABLE, S3),
        rounds=3,
        batches=6,
        warmup=8,
        counted=4,
        counted_ours=20,
        master=CLUSTER_MASTER,
    ),
    Setting(
        name="cluster-200",
        title="200 partitions, two executors in processes of their own",
        partitions=200,
        contenders=(FLOOR, ABORTABLE, S3),
        rounds=3,
        batches=6,
        warmup=14,
        counted=4,
        counted_ours=20,
        master=CLUSTER_MASTER,
    ),
)


@dataclass(frozen=True, kw_only=True)
class Places:
    """Where things are in this run."""

    folder: Path
    server: Server
    proxy: str
    floor_jar: Path
    shared_memory: Path
    s3a_jars: Sequence[Path]

    def store_url(self, *, is_far: bool = False) -> str:
        """Holdfast's store on the server, or behind the proxy."""
        options = {
            "endpoint_url": self.proxy if is_far else self.server.endpoint,
            "region": "us-east-1",
            "access_key": self.server.access_key,
            "secret_key": self.server.secret_key,
        }
        return f"s3://{bucket_of(S3, is_far=is_far)}/store?{urlencode(options, quote_via=quote)}"


def bucket_of(contender: str, *, is_far: bool) -> str:
    """Each has buckets of its own, so that the server's metrics tell them apart."""
    return f"{contender}-far" if is_far else contender


def buckets() -> list[str]:
    return [bucket_of(each, is_far=is_far) for each in ON_S3 for is_far in (False, True)]


def session_conf(contender: str, places: Places, master: str = LOCAL_MASTER) -> dict[str, str]:
    """What the contender's session needs from its start on."""
    if contender == FLOOR:
        return floor.session_conf(
            places.floor_jar, None if master == LOCAL_MASTER else places.shared_memory
        )
    if contender in (RENAME, ABORTABLE):
        return _s3a_conf(contender, places, master)
    if contender == LOCAL:
        return {"spark.holdfast.store": (places.folder / "store").as_uri()}
    if contender == S3:
        return {
            "spark.holdfast.store": places.store_url(),
            "spark.holdfast.store.far": places.store_url(is_far=True),
            # The 64 MB commit is written by the bench's own Java, through Holdfast's filesystem.
            "spark.jars": str(places.floor_jar),
        }
    return {}


def location(contender: str, setting: Setting, places: Places) -> str:
    """Where the query keeps its checkpoint."""
    if contender == FLOOR:
        return f"floor:///{setting.name}"
    if contender in (RENAME, ABORTABLE):
        return f"s3a://{bucket_of(contender, is_far=setting.latency_ms > 0)}/{setting.name}"
    if contender == SPARK:
        return (places.folder / "spark-local" / setting.name).as_uri()
    store = "far" if setting.latency_ms else ""
    return f"holdfast://{store}/{setting.name}"


def _s3a_conf(contender: str, places: Places, master: str) -> dict[str, str]:
    """S3A as its documentation sets it up, and the abortable manager as Spark's does."""
    given = s3a.session_conf(places.s3a_jars, places.server)
    far = bucket_of(contender, is_far=True)
    given[f"spark.hadoop.fs.s3a.bucket.{far}.endpoint"] = places.proxy
    if master != LOCAL_MASTER:
        # Half a gigabyte of jars is not sent to executors that can read it where it is.
        jars = given.pop("spark.jars").replace(",", ":")
        given["spark.driver.extraClassPath"] = given["spark.executor.extraClassPath"] = jars
    if contender == ABORTABLE:
        given["spark.sql.streaming.checkpointFileManagerClass"] = s3a.ABORTABLE
    return given
