"""A door into an executor's JVM, through which a test does there what it does in the driver's."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from py4j.java_gateway import GatewayParameters, JavaGateway

from tests import compiled

if TYPE_CHECKING:
    from tests.spark.processes import Child


def build(jar: Path) -> Path:
    """The jar that a session with probes has in `spark.jars`."""
    return compiled.build(Path(__file__).parent / "java", jar)


class Probe:
    """Some executor, as Python sees it; `conf` is what tasks of started queries have there."""

    def __init__(self, driver: Child) -> None:
        told = driver.call("tests.cluster.steps:listen")
        self.gateway = JavaGateway(gateway_parameters=GatewayParameters(port=told["port"]))
        entry: Any = self.gateway.entry_point
        self.entry, self.conf = entry, entry.configuration(told["conf"])

    def close(self) -> None:
        """While the executor lives: what is collected later would be told to a JVM that is gone."""
        del self.entry, self.conf
        self.gateway.shutdown()
