"""The floor: a checkpoint in memory, compiled against the installed Spark."""

from __future__ import annotations

from pathlib import Path

from tests import compiled

_CONF = {
    "spark.hadoop.fs.floor.impl": "bench.MemoryFileSystem",
    "spark.hadoop.fs.AbstractFileSystem.floor.impl": "bench.MemoryFs",
}


def build(jar: Path) -> Path:
    """Compile the bench's own Java into a jar."""
    return compiled.build(Path(__file__).parent / "java", jar)


def session_conf(jar: Path, shared: Path | None) -> dict[str, str]:
    """Files in the JVM's own memory, or in a folder of the machine's, where executors share it."""
    if shared is None:
        return {**_CONF, "spark.jars": str(jar)}
    return {
        **_CONF,
        "spark.hadoop.bench.floor.folder": str(shared),
        "spark.driver.extraClassPath": str(jar),
        "spark.executor.extraClassPath": str(jar),
    }
