"""Operators that keep state, expressions and Python functions, each with one real change.

Each kind is what a user would write in PySpark; none of them runs. What needs a newer Spark than
3.5, or jars, says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as f

from tests.lines.registry import SCHEMA, Inputs, kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame

SKU_AND_INT = "sku string, n int"

# Operators that keep state


@kind()
def aggregation(given: Inputs) -> DataFrame:
    return given.orders().groupBy("sku").agg(f.count("*"), f.sum(given.pick("amount", "id")))


@kind()
def windows(given: Inputs) -> DataFrame:
    counts = given.orders().withWatermark("at", "10 seconds")
    return counts.groupBy(f.window("at", given.pick("1 minute", "2 minutes")), "sku").count()


@kind()
def sliding_windows(given: Inputs) -> DataFrame:
    return given.late_orders().groupBy(f.window("at", "1 minute", "30 seconds"), "sku").count()


@kind()
def windows_of_windows(given: Inputs) -> DataFrame:
    minutes = given.late_orders().groupBy(f.window("at", "1 minute"), "sku").count()
    return minutes.groupBy(f.window("window", "1 hour")).count()


@kind()
def session_windows(given: Inputs) -> DataFrame:
    return given.late_orders().groupBy(f.session_window("at", "1 minute"), "sku").count()


@kind()
def rollup(given: Inputs) -> DataFrame:
    return given.orders().rollup("sku", given.pick("amount", "id")).count()


@kind()
def pivot(given: Inputs) -> DataFrame:
    return given.orders().groupBy("sku").pivot("amount", [1, given.pick(2, 3)]).count()


@kind()
def deduplication(given: Inputs) -> DataFrame:
    return given.orders().dropDuplicates(["sku", given.pick("id", "amount")])


@kind()
def deduplication_of_rows(given: Inputs) -> DataFrame:
    return given.orders().select("sku", given.pick("id", "amount")).distinct()


@kind()
def deduplication_within_watermark(given: Inputs) -> DataFrame:
    return given.late_orders().dropDuplicatesWithinWatermark(["sku", "id"])


@kind()
def inner_join(given: Inputs) -> DataFrame:
    paid = given.payments().withWatermark("at", "20 seconds").alias("p")
    near = "o.at BETWEEN p.at AND p.at + INTERVAL 1 MINUTE"
    return given.late_orders().alias("o").join(paid, f.expr(f"o.id = p.id AND {near}"))


@kind()
def outer_join(given: Inputs) -> DataFrame:
    paid = given.payments().withWatermark("at", "20 seconds").alias("p")
    near = f.expr("o.id = p.id AND o.at BETWEEN p.at AND p.at + INTERVAL 1 MINUTE")
    how = given.pick("leftOuter", "fullOuter")
    return given.orders().withWatermark("at", "5 seconds").alias("o").join(paid, near, how)


@kind()
def self_join(given: Inputs) -> DataFrame:
    """`a.amount > b.amount` and `b.amount > a.amount` differ in expression ids only."""
    orders, more = given.orders(), given.pick("a.amount > b.amount", "b.amount > a.amount")
    return orders.alias("a").join(orders.alias("b"), f.expr(f"a.id = b.id AND {more}"))


@kind()
def limit(given: Inputs) -> DataFrame:
    return given.orders().limit(given.pick(4, 5))


@kind()
def state_in_pandas(given: Inputs) -> DataFrame:
    def count(key: Any, frames: Any, state: Any) -> Iterator[Any]:
        yield from frames

    state = given.pick("n long", "n int")
    groups = given.orders().withWatermark("at", "10 seconds").groupBy("sku")
    schema = "sku string, n long"
    return groups.applyInPandasWithState(count, schema, state, "update", "EventTimeTimeout")


def processor() -> Any:
    from pyspark.sql.streaming.stateful_processor import StatefulProcessor  # since 4.0

    class Counter(StatefulProcessor):
        def init(self, handle: Any) -> None:
            self._count = handle.getValueState("count", "n long")

        def handleInputRows(self, key: Any, rows: Any, timer_values: Any) -> Iterator[Any]:  # noqa: N802 - Spark's name
            yield from rows

        def close(self) -> None:
            """Nothing is held."""

    return Counter()


@kind(since=(4, 1))
def transform_with_state(given: Inputs) -> DataFrame:
    schema = given.pick("sku string, n long", "sku string, n int")
    groups = given.orders().groupBy("sku")
    return groups.transformWithState(processor(), schema, "Update", "None")


@kind(since=(4, 0))
def transform_with_state_in_pandas(given: Inputs) -> DataFrame:
    schema, mode = "sku string, n long", given.pick("None", "ProcessingTime")
    groups = given.orders().groupBy("sku")
    return groups.transformWithStateInPandas(processor(), schema, "Update", mode)


@kind(since=(4, 0))
def transform_with_initial_state(given: Inputs) -> DataFrame:
    first = given.spark.createDataFrame([("a", 1)], given.pick("sku string, n long", SKU_AND_INT))
    return (
        given.orders()
        .groupBy("sku")
        .transformWithStateInPandas(
            processor(),
            "sku string, n long",
            "Update",
            "None",
            initialState=first.groupBy("sku"),
        )
    )


# Expressions and functions


@kind()
def condition(given: Inputs) -> DataFrame:
    return given.orders().where(f"amount > {given.pick(50, 60)}")


@kind()
def text_condition(given: Inputs) -> DataFrame:
    return given.orders().where(f"sku = 'order #{given.pick(1, 2)}'")


@kind()
def uuid_condition(given: Inputs) -> DataFrame:
    """A user's own UUID, hash or long number is not made up."""
    tenant = given.pick(
        "78516e69-0000-4000-8000-000000000000", "0" * 8 + "-0000-4000-8000-" + 12 * "0"
    )
    return given.orders().where(f.col("sku") == tenant)


@kind()
def number_condition(given: Inputs) -> DataFrame:
    return given.orders().where(f.col("id") == given.pick(12345678901234567, 12345678901234568))


@kind()
def time_condition(given: Inputs) -> DataFrame:
    return given.orders().where(f"at > TIMESTAMP '2026-11-1{given.pick(7, 8)} 09:00:00'")


@kind()
def set_condition(given: Inputs) -> DataFrame:
    """A Python set of texts has another order in each process."""
    return given.orders().where(f.col("sku").isin({"a", "b", "c", "d", given.pick("e", "f")}))


@kind()
def number_set_condition(given: Inputs) -> DataFrame:
    return given.orders().where(f.col("id").isin({"1", "2", "30", "40", given.pick("5", "6")}))


@kind()
def many_columns(given: Inputs) -> DataFrame:
    """Spark's own text of a plan ends with the 25th."""
    last = f.lit(given.pick(1, 2)).alias("last")
    return given.orders().select(*[(f.col("id") + n).alias(f"c{n}") for n in range(40)], last)


@kind()
def many_fields(given: Inputs) -> DataFrame:
    fields = [(f.col("id") + n).alias(f"c{n}") for n in range(20)]
    return given.orders().select(f.struct(*fields, f.lit(given.pick(1, 2)).alias("last")))


@kind()
def column_order(given: Inputs) -> DataFrame:
    return given.orders().select(*given.pick(("id", "sku"), ("sku", "id")))


@kind()
def cast(given: Inputs) -> DataFrame:
    return given.orders().select(f.col("amount").cast(given.pick("string", "long")))


@kind()
def json_schema(given: Inputs) -> DataFrame:
    schema = given.pick("a int, b struct<c: string>", "a int, b struct<c: int>")
    return given.orders().select(f.from_json("sku", schema).alias("j")).select("j.*")


@kind()
def explode(given: Inputs) -> DataFrame:
    return given.orders().select("id", f.explode(f.split("sku", given.pick(",", ";"))))


@kind()
def lambda_variables(given: Inputs) -> DataFrame:
    change = given.pick(f.upper, f.lower)
    total = f.aggregate(f.array("id"), f.lit(0).cast("long"), lambda one, other: one + other)
    return given.orders().select(
        f.transform(f.split("sku", ","), lambda x: f.trim(change(x))), total
    )


@kind()
def randomness(given: Inputs) -> DataFrame:
    """A seed that Spark draws is not part of the query; one that the user gives is."""
    seeded = f.rand(given.pick(7, 8))
    return given.orders().select(
        f.rand(), f.randn(), f.expr("uuid()"), f.shuffle(f.array("id")), seeded
    )


@kind(since=(4, 0))
def random_texts(given: Inputs) -> DataFrame:
    length = given.pick(5, 6)
    return given.orders().selectExpr(f"randstr({length})", "uniform(1, 9)", "random()")


@kind()
def sample(given: Inputs) -> DataFrame:
    return given.orders().sample(given.pick(0.5, 0.25))


@kind()
def clock(given: Inputs) -> DataFrame:
    now = given.pick(f.current_timestamp, f.current_date)
    return given.orders().select("id", now())


@kind()
def observed(given: Inputs) -> DataFrame:
    return given.orders().observe("metrics", f.count(f.lit(given.pick(1, 2))).alias("n"))


@kind()
def union(given: Inputs) -> DataFrame:
    orders = given.orders()
    return orders.unionByName(given.pick(given.payments(), orders))


@kind()
def repartitioned(given: Inputs) -> DataFrame:
    return given.orders().repartition(given.pick(3, 4), "sku").coalesce(2)


@kind()
def renamed(given: Inputs) -> DataFrame:
    return given.orders().withColumnRenamed("sku", given.pick("product", "article"))


# Python functions


@kind()
def python_udf(given: Inputs) -> DataFrame:
    def plus(value: int) -> int:
        return value + 1

    called = f.udf(plus, given.pick("int", "long"))
    return given.orders().select(called("amount"))


@kind()
def python_udf_without_a_name(given: Inputs) -> DataFrame:
    return given.orders().select(f.udf(lambda value: value)(given.pick("sku", "amount")))


class Callee:
    def __call__(self, value: Any) -> Any:
        return value


@kind()
def python_udf_of_an_object(given: Inputs) -> DataFrame:
    return given.orders().select(f.udf(Callee())(given.pick("sku", "amount")))


@kind()
def registered_udf(given: Inputs) -> DataFrame:
    name = given.pick("plus_one", "plus_two")
    given.spark.udf.register(name, lambda value: value, "int")
    return given.spark.sql(f"SELECT {name}(amount) FROM {given.view()}")


@kind()
def pandas_udf(given: Inputs) -> DataFrame:
    import pandas as pd
    from pyspark.sql.pandas import functions

    def plus(values: Any) -> Any:
        return values

    plus.__annotations__ = {"values": pd.Series, "return": pd.Series}
    made: Any = functions.pandas_udf  # whose overloads do not know such a function
    return given.orders().select(made(plus, given.pick("int", "long"))("amount"))


@kind()
def python_table_function(given: Inputs) -> DataFrame:
    class Twice:
        def eval(self, value: int) -> Iterator[tuple[int]]:
            yield (value,)

    twice: Any = f.udtf(Twice, returnType=given.pick("a int", "a long"))
    given.spark.udtf.register("twice", twice)
    return given.spark.sql(f"SELECT * FROM {given.view()}, LATERAL twice(amount)")


@kind()
def map_in_pandas(given: Inputs) -> DataFrame:
    def same(frames: Any) -> Any:
        return frames

    return given.orders().mapInPandas(same, given.pick("id long", "id int"))


@kind()
def map_in_arrow(given: Inputs) -> DataFrame:
    return given.orders().mapInArrow(lambda batches: batches, given.pick("id long", "id int"))


@kind()
def apply_in_pandas(given: Inputs) -> DataFrame:
    groups = given.orders().groupBy(given.pick("sku", "id"))
    return groups.applyInPandas(lambda frame: frame, SCHEMA)


@kind()
def cogrouped_in_pandas(given: Inputs) -> DataFrame:
    key = given.pick("sku", "id")
    groups = given.orders().groupBy(key).cogroup(given.payments().groupBy(key))
    return groups.applyInPandas(lambda left, right: left, SCHEMA)
