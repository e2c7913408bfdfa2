"""The floor: a checkpoint in the JVM's own memory, compiled against the installed Spark."""

from __future__ import annotations

from pathlib import Path

from tests import compiled

CONF = {
    "spark.hadoop.fs.floor.impl": "bench.MemoryFileSystem",
    "spark.hadoop.fs.AbstractFileSystem.floor.impl": "bench.MemoryFs",
}


def build(jar: Path) -> Path:
    """Compile the bench's own Java into a jar."""
    return compiled.build(Path(__file__).parent / "java", jar)
