"""What Spark still does for a query that has ended costs the store nothing."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from holdfast.spark.host import Host
from tests.spark.orders import write_orders
from tests.spark.queries import counted, run_to_end
from tests.spark.tasks import spark

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.spark.processes import Child

_MAINTENANCE = "spark.sql.streaming.stateStore.maintenanceInterval"


def looks_after_end(folder: str, seconds: float) -> int:
    """In a driver of its own: how often its store was looked at after the query's end."""
    looks = []
    look = Host.recover

    def counted_look(self: Host, *args: Any, **named: Any) -> Any:
        looks.append(args)
        return look(self, *args, **named)

    writer = counted(spark(), folder).writeStream.outputMode("update").format("noop")
    run_to_end(writer.option("checkpointLocation", "holdfast:///orders"))
    Host.recover = counted_look  # type: ignore[method-assign]
    time.sleep(seconds)
    return len(looks)


def test_closing_state_stores_asks_the_store_nothing(
    child: Callable[..., Child], store: str, tmp_path: Path
) -> None:
    """Spark lists each partition once more before it forgets it."""
    write_orders(tmp_path / "orders", files=2)
    driver = child()
    driver.start(store, **{_MAINTENANCE: "300ms"})
    asked = "tests.spark.test_ended:looks_after_end"
    assert driver.call(asked, folder=str(tmp_path / "orders"), seconds=3) == 0
