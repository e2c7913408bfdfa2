"""`holdfast.start`: a query that was changed does not go on from another query's state."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import functions as f

import holdfast
from holdfast.spark import start as starting
from tests.spark.orders import counts_by_sku, write_orders
from tests.spark.queries import orders_stream

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_orders(tmp_path / "orders", files=2)
    return tmp_path / "orders"


def writer(df: DataFrame) -> DataStreamWriter:
    made = df.writeStream.outputMode("update").format("noop")
    return made.trigger(availableNow=True)


def by_sku(spark: SparkSession, folder: Path) -> DataFrame:
    return orders_stream(spark, str(folder)).groupBy("sku").count()


def large_by_sku(spark: SparkSession, folder: Path) -> DataFrame:
    return orders_stream(spark, str(folder)).where("amount > 50").groupBy("sku").count()


def test_the_same_query_goes_on(spark: SparkSession, folder: Path) -> None:
    """However often its plan is built, its hash is the same."""
    for batch in (1, 3):
        query = holdfast.start(writer(by_sku(spark, folder)), "orders", config={"model": 7})
        query.awaitTermination()
        assert holdfast.status(query).batch == batch
        write_orders(folder, files=2, first=2)


def test_a_changed_plan_is_refused_and_the_difference_named(
    spark: SparkSession, folder: Path
) -> None:
    """`strict`, which is the default; nothing was claimed."""
    holdfast.start(writer(by_sku(spark, folder)), "orders").awaitTermination()
    claim = holdfast.status("orders").claim
    with pytest.raises(holdfast.ConfigMismatchError, match=r"plan\[.*amount"):
        holdfast.start(writer(large_by_sku(spark, folder)), "orders")
    assert holdfast.status("orders").claim == claim


@pytest.mark.parametrize("what", ["config", "partitions", "mode"])
def test_other_changes_are_named_too(spark: SparkSession, folder: Path, what: str) -> None:
    """What the user gave, the shuffle partitions, the output mode."""
    holdfast.start(writer(by_sku(spark, folder)), "orders", config={"model": 7}).awaitTermination()
    changed = writer(by_sku(spark, folder))
    config = {"model": 8 if what == "config" else 7}
    if what == "partitions":
        spark.conf.set("spark.sql.shuffle.partitions", "3")
    if what == "mode":
        changed = changed.outputMode("complete")
    names = {
        "config": r"config\.model: 7 → 8",
        "partitions": r'shuffle partitions: "2" → "3"',
        "mode": r"output mode: .*Update.* → .*Complete",
    }
    with pytest.raises(holdfast.ConfigMismatchError, match=names[what]):
        holdfast.start(changed, "holdfast:///orders", config=config)


def test_auto_reset_starts_anew_and_keeps_the_old_state(
    spark: SparkSession, folder: Path, store: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Under a tag; the warning says what changed, and the command that brings it back."""
    holdfast.start(writer(by_sku(spark, folder)), "orders").awaitTermination()
    changed = writer(large_by_sku(spark, folder))
    query = holdfast.start(changed, "orders", on_config_change="auto-reset")
    query.awaitTermination()
    assert holdfast.status(query).batch == 1
    rows = spark.read.format("statestore").load("holdfast:///orders").collect()
    assert sum(row["value"]["count"] for row in rows) < sum(counts_by_sku(folder).values())
    (warning,) = holdfast.status(query).warnings
    assert ("WARNING", f"orders: {warning}") in logged(caplog)
    assert "plan[1]: added" in warning
    assert "amount#0L > cast(50" in warning
    run_command(re.findall("`(.*)`", warning)[0], store)
    rows = spark.read.format("statestore").load("holdfast:///orders").collect()
    assert {row["key"]["sku"]: row["value"]["count"] for row in rows} == counts_by_sku(folder)


def run_command(command: str, store: str) -> None:
    """As an operator would, in a shell of their own."""
    program, *words = shlex.split(command)
    assert program == "holdfast"
    env = {**os.environ, "HOLDFAST_STORE": store}
    subprocess.run([sys.executable, "-m", "holdfast.cli", *words], env=env, check=True)


def logged(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str]]:
    return [(record.levelname, record.getMessage()) for record in caplog.records]


def test_auto_reset_keeps_the_state_of_an_unchanged_query(
    spark: SparkSession, folder: Path, store: str
) -> None:
    """One with a watermark, which Spark gives a random id in each plan."""
    batch = -1
    for first in (0, 2):
        write_orders(folder, files=2, first=first)
        query = holdfast.start(
            writer(by_minute(spark, folder)), "orders", on_config_change="auto-reset"
        )
        query.awaitTermination()
        assert holdfast.status(query).batch >= batch + 2
        assert holdfast.status(query).warnings == ()
        batch = holdfast.status(query).batch
    assert holdfast.Chain(holdfast.open_store(store), "orders").refs() == []


def by_minute(spark: SparkSession, folder: Path, delay: str = "30 seconds") -> DataFrame:
    late = orders_stream(spark, str(folder)).withWatermark("at", delay)
    return late.groupBy(f.window("at", "1 minute"), "sku").count()


def test_another_delay_of_a_watermark_is_a_change(spark: SparkSession, folder: Path) -> None:
    """Its id is made up, the rest of it is not."""
    holdfast.start(writer(by_minute(spark, folder)), "orders").awaitTermination()
    with pytest.raises(holdfast.ConfigMismatchError, match=r"30 seconds.* → .*31 seconds"):
        holdfast.start(writer(by_minute(spark, folder, "31 seconds")), "orders")


def test_warn_goes_on(spark: SparkSession, folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    """And says what changed, once."""
    holdfast.start(writer(by_sku(spark, folder)), "orders", config={"v": 1}).awaitTermination()
    for batch, warned in ((2, True), (3, False)):
        write_orders(folder, files=1, first=batch)
        caplog.clear()
        query = holdfast.start(
            writer(by_sku(spark, folder)), "orders", config={"v": 2}, on_config_change="warn"
        )
        query.awaitTermination()
        assert holdfast.status(query).batch == batch
        assert ("config.v: 1 → 2" in caplog.text) is warned
        assert ("config.v: 1 → 2" in str(holdfast.status(query).warnings)) is warned


def test_every_thread_describes_a_query_alike(spark: SparkSession, folder: Path) -> None:
    """In full, though Spark's texts end with the 25th field; and no setting is left changed."""
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    recent = orders_stream(spark, str(folder)).where("at > TIMESTAMP '2026-11-17 09:00:00'")
    columns = [(f.col("amount") + n).alias(f"c{n}") for n in range(40)]
    wide = writer(recent.select(*columns, f.lit("the end")))
    before = spark.conf.getAll
    here = starting.describe(wide, {})
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda _: starting.describe(wide, {}), range(32)))
    assert found == [here] * 32
    assert "2026-11-17 09:00:00" in str(here)
    assert "more fields" not in str(here)
    assert spark.conf.getAll == before


def stored_as(monkeypatch: pytest.MonkeyPatch, **changes: Any) -> None:
    """Let the next start describe its query in another way, with another hash."""
    real = starting._description

    def other(made: DataStreamWriter, config: dict[str, Any]) -> starting.Description:
        found = real(made, config)
        content = {**(found.content or {}), "plan": ["EventTimeWatermark 78516e69-…"]}
        return replace(found, hash=1, content=content, **changes)

    monkeypatch.setattr(starting, "_description", other)


@pytest.mark.parametrize("policy", ["strict", "auto-reset", "warn"])
def test_a_description_in_another_format_is_not_compared(
    spark: SparkSession, folder: Path, monkeypatch: pytest.MonkeyPatch, policy: str
) -> None:
    """No state is given up or refused for it; the next start compares again."""
    with monkeypatch.context() as patch:
        stored_as(patch, format=1)
        holdfast.start(writer(by_sku(spark, folder)), "orders").awaitTermination()
    for batch, warned in ((2, True), (3, False)):
        write_orders(folder, files=1, first=batch)
        query = holdfast.start(writer(by_sku(spark, folder)), "orders", on_config_change=policy)
        query.awaitTermination()
        assert holdfast.status(query).batch == batch
        assert ("format 1" in str(holdfast.status(query).warnings)) is warned


def test_the_users_own_settings_are_compared_in_every_format(
    spark: SparkSession, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are never described in another way."""
    with monkeypatch.context() as patch:
        stored_as(patch, format=1)
        started = holdfast.start(writer(by_sku(spark, folder)), "orders", config={"v": 1})
        started.awaitTermination()
    with pytest.raises(holdfast.ConfigMismatchError, match=r"config\.v: 1 → 2"):
        holdfast.start(writer(by_sku(spark, folder)), "orders", config={"v": 2})


def test_an_upgrade_of_spark_never_resets(
    spark: SparkSession, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may describe the same plan in other words: a person has to say that it is the same."""
    with monkeypatch.context() as patch:
        stored_as(patch, spark="3.5.9")
        holdfast.start(writer(by_sku(spark, folder)), "orders").awaitTermination()
    for policy in ("strict", "auto-reset"):
        with pytest.raises(holdfast.ConfigMismatchError) as refused:
            holdfast.start(writer(by_sku(spark, folder)), "orders", on_config_change=policy)
        assert f"from 3.5.9 to {spark.version}" in str(refused.value.hint)
    write_orders(folder, files=1, first=2)
    query = holdfast.start(writer(by_sku(spark, folder)), "orders", on_config_change="warn")
    query.awaitTermination()
    assert holdfast.status(query).batch == 2
    write_orders(folder, files=1, first=3)
    holdfast.start(writer(by_sku(spark, folder)), "orders").awaitTermination()
    assert holdfast.status("orders").batch == 3


def test_auto_reset_resets_for_a_change_that_no_upgrade_explains(
    spark: SparkSession, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as one of the user's own settings."""
    with monkeypatch.context() as patch:
        stored_as(patch, spark="3.5.9")
        started = holdfast.start(writer(by_sku(spark, folder)), "orders", config={"v": 1})
        started.awaitTermination()
    query = holdfast.start(
        writer(by_sku(spark, folder)), "orders", config={"v": 2}, on_config_change="auto-reset"
    )
    query.awaitTermination()
    assert "config.v: 1 → 2" in str(holdfast.status(query).warnings)


def test_a_start_that_cannot_claim_raises_holdfasts_own_error(
    spark: SparkSession, store: str, folder: Path
) -> None:
    """Not the JVM's stack trace."""
    holdfast.open_store(store).put("orders/intents/intent-000002.json", b"a trace of what was")
    with pytest.raises(holdfast.CorruptionError, match="intents but no manifest"):
        holdfast.start(writer(by_sku(spark, folder)), "orders")
