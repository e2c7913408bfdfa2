"""The same contract from an executor: every call is a message to the driver, or goes past it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import py4j.java_gateway
import py4j.protocol
import pytest

from tests.cluster import probes
from tests.spark.contract import ROOT, Files, FilesystemContract
from tests.spark.orders import write_orders
from tests.spark.processes import SPARK_HOME, Child
from tests.trust import trusted

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Files]:
    """A query on a cluster, and the filesystem in one of its executors."""
    folder = tmp_path_factory.mktemp("contract")
    store = trusted((folder / "store").as_uri())
    conf = {
        "spark.holdfast.store.contract": store,
        "spark.jars": str(probes.build(folder / "probe.jar")),
    }
    write_orders(folder / "orders", files=1)
    with (
        Child(folder / "driver.log", env={"SPARK_HOME": str(SPARK_HOME)}) as driver,
        pytest.MonkeyPatch.context() as patch,
    ):
        driver.start(store, master="local-cluster[2,1,1024]", **conf)
        driver.call(
            "tests.cluster.steps:count_to_nothing", folder=str(folder / "orders"), location=ROOT
        )
        # What PySpark puts there translates errors of its own JVM only.
        patch.setattr(py4j.java_gateway, "get_return_value", py4j.protocol.get_return_value)
        probe = probes.Probe(driver)
        yield Files(probe.gateway, probe.conf, below="state/contract")
        probe.close()


class TestOnAnExecutor(FilesystemContract):
    """In a JVM that has neither Python nor the store's credentials."""

    def test_an_executor_writes_only_state(self, files: Files) -> None:
        """Whatever it does; everything else of a checkpoint is the driver's."""
        state = files.root
        files.write("mine", b"1")
        files.root = ROOT
        try:
            for attempt in (
                lambda: files.write("offsets/9", b"v1"),
                lambda: files.fs.mkdirs(files.path("offsets/9")),
                lambda: files.fs.delete(files.path("metadata"), False),  # noqa: FBT003 - Java
                lambda: files.rename("metadata", "state/metadata", overwrite=False),
                lambda: files.rename("state/contract/mine", "sources/0/7", overwrite=False),
                lambda: files.write("sources/0/7", bytes(3_000_000)),
            ):
                with pytest.raises(py4j.protocol.Py4JJavaError, match="only below state/"):
                    attempt()
            assert files.read("metadata").startswith(b"{")
        finally:
            files.root = state
