"""On what a figure was measured."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from datetime import datetime, timezone
from importlib.metadata import version
from pathlib import Path

from holdfast.version import VERSION
from tests.s3 import s3a


def machine() -> dict[str, object]:
    """Cores, memory, processor and system."""
    return {
        "cores": os.cpu_count(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
        "processor": _first(r"model name\s*:\s*(.+)", _text("/proc/cpuinfo")) or platform.machine(),
        "system": f"{platform.system()} {platform.release()}",
    }


def versions(server: str) -> dict[str, str]:
    """Of everything that was measured."""
    java = subprocess.run(["java", "-version"], capture_output=True, text=True, check=True).stderr
    return {
        "holdfast": VERSION,
        "python": platform.python_version(),
        "java": _first(r'version "([^"]+)"', java),
        "spark": version("pyspark"),
        "boto3": version("boto3"),
        "hadoop-aws": s3a.HADOOP_AWS,
        "spark-hadoop-cloud": s3a.HADOOP_CLOUD,
        "server": server,
    }


def now() -> str:
    return datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC")


def load() -> float:
    """How many processes wanted a core lately; more than there are cores means noise."""
    return round(os.getloadavg()[0], 2)


def cpu_ms(*pids: int) -> float:
    """What these processes have had of the cores so far; noise of others is hardly in it."""
    fields = [_text(f"/proc/{pid}/stat").rpartition(")")[2].split() for pid in pids]
    ticks = sum(int(each[11]) + int(each[12]) for each in fields)
    return 1000 * ticks / os.sysconf("SC_CLK_TCK")


def _text(path: str) -> str:
    return Path(path).read_text() if Path(path).exists() else ""


def _first(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    return found[1].strip() if found else ""
