"""Static sides, SQL, sources and sinks, each with one real change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql import Window
from pyspark.sql import functions as f

from tests.lines.registry import SCHEMA, Inputs, kind

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.readwriter import DataStreamWriter

# Static sides


@kind()
def static_files(given: Inputs) -> DataFrame:
    return given.orders().join(given.prices(), "sku", given.pick("inner", "left"))


@kind()
def static_files_v2(given: Inputs) -> DataFrame:
    given.spark.conf.set("spark.sql.sources.useV1SourceList", "")
    joined = given.orders().join(given.prices(), "sku", given.pick("inner", "left"))
    joined.schema  # noqa: B018 - analyzed before the setting is taken back
    given.spark.conf.unset("spark.sql.sources.useV1SourceList")
    return joined


@kind()
def static_rows(given: Inputs) -> DataFrame:
    rows = given.spark.createDataFrame(
        [(1, "a")], given.pick("id long, n string", "id long, m string")
    )
    return given.orders().join(f.broadcast(rows), "id")


@kind()
def static_rows_of_pandas(given: Inputs) -> DataFrame:
    import pandas as pd

    rows = given.spark.createDataFrame(pd.DataFrame({"id": [1], "n": [given.pick(1, "a")]}))
    return given.orders().join(rows, "id")


@kind()
def static_rdd(given: Inputs) -> DataFrame:
    rows = given.spark.sparkContext.parallelize([(1,)])
    made = given.spark.createDataFrame(rows, given.pick("id long", "id int"))
    return given.orders().join(made, "id")


@kind()
def static_range(given: Inputs) -> DataFrame:
    """Spark splits it into as many parts as there are cores."""
    return given.orders().join(given.spark.range(given.pick(10, 11)), "id")


@kind()
def static_values(given: Inputs) -> DataFrame:
    rows = given.spark.sql(f"SELECT * FROM VALUES (1, 'a') AS t(id, {given.pick('n', 'm')})")
    return given.orders().join(rows.hint("shuffle_hash"), "id")


@kind()
def static_cached(given: Inputs) -> DataFrame:
    return given.orders().join(
        given.prices().where(given.pick("price > 1", "price > 2")).cache(), "sku"
    )


@kind()
def static_checkpointed(given: Inputs) -> DataFrame:
    kept = given.prices().localCheckpoint(eager=False)
    return given.orders().join(kept, "sku", given.pick("inner", "left"))


@kind()
def static_window_function(given: Inputs) -> DataFrame:
    order = Window.partitionBy("sku").orderBy(given.pick(f.asc, f.desc)("price"))
    newest = given.prices().withColumn("place", f.row_number().over(order)).where("place = 1")
    return given.orders().join(newest, "sku")


@kind()
def static_table(given: Inputs) -> DataFrame:
    table = given.pick("names", "titles")
    given.spark.sql(f"CREATE TABLE IF NOT EXISTS {table} (sku string, name string) USING parquet")
    return given.orders().join(given.spark.table(table), "sku")


# SQL


@kind()
def sql_text(given: Inputs) -> DataFrame:
    having = given.pick("count(*) > 1", "count(*) > 2")
    inner = f"SELECT sku AS s, amount FROM {given.view()} WHERE amount > 2"
    return given.spark.sql(f"SELECT s, count(*) FROM ({inner}) GROUP BY s HAVING {having}")


@kind()
def sql_common_table(given: Inputs) -> DataFrame:
    first = f"WITH t AS (SELECT sku FROM {given.view()} WHERE amount > {given.pick(3, 4)})"
    return given.spark.sql(f"{first} SELECT sku, count(*) n FROM t GROUP BY sku")


@kind()
def sql_subqueries(given: Inputs) -> DataFrame:
    given.prices().createOrReplaceTempView("prices")
    return given.spark.sql(
        f"SELECT * FROM {given.view()} o WHERE amount > (SELECT max(price) FROM prices) "
        f"AND sku IN (SELECT sku FROM prices WHERE price > {given.pick(1, 2)}) "
        f"AND EXISTS (SELECT 1 FROM prices p WHERE p.sku = o.sku)"
    )


@kind()
def sql_lateral_view(given: Inputs) -> DataFrame:
    words = f"explode(split(sku, '{given.pick(',', ';')}'))"
    return given.spark.sql(f"SELECT id, w FROM {given.view()} LATERAL VIEW {words} t AS w")


@kind()
def sql_with_a_dataframe(given: Inputs) -> DataFrame:
    """PySpark makes a view of it, with a random name."""
    key = given.pick("sku", "id")
    text = f"SELECT o.{key}, count(*) FROM {{o}} o JOIN {{p}} p ON o.sku = p.sku GROUP BY o.{key}"
    return given.spark.sql(text, o=given.orders(), p=given.prices())


@kind()
def sql_parameters(given: Inputs) -> DataFrame:
    text = f"SELECT sku FROM {given.view()} WHERE amount > :least"
    return given.spark.sql(text, args={"least": given.pick(3, 4)})


@kind(since=(4, 0))
def sql_function(given: Inputs) -> DataFrame:
    name = given.pick("more", "less")
    made = f"CREATE OR REPLACE TEMPORARY FUNCTION {name}(x int) RETURNS int RETURN x + 1"
    given.spark.sql(made)
    return given.spark.sql(f"SELECT {name}(amount) FROM {given.view()}")


@kind(since=(4, 0))
def sql_pipe(given: Inputs) -> DataFrame:
    least = given.pick(2, 3)
    return given.spark.sql(
        f"FROM {given.view()} |> WHERE amount > {least} |> AGGREGATE count(*) AS n GROUP BY sku"
    )


# Sources


@kind()
def text_source(given: Inputs) -> DataFrame:
    return given.spark.readStream.text(str(given.folder / given.pick("orders", "payments")))


@kind()
def json_source(given: Inputs) -> DataFrame:
    return given.reader().json(str(given.folder / given.pick("orders", "payments")))


@kind()
def csv_source(given: Inputs) -> DataFrame:
    schema = given.pick(SCHEMA, SCHEMA.replace("int", "long"))
    return given.spark.readStream.schema(schema).csv(str(given.folder / "orders"))


@kind()
def format_of_a_source(given: Inputs) -> DataFrame:
    return given.reader().format(given.pick("parquet", "orc")).load(str(given.folder / "orders"))


@kind()
def table_source(given: Inputs) -> DataFrame:
    table = given.pick("incoming", "received")
    given.spark.sql(f"CREATE TABLE IF NOT EXISTS {table} (sku string, name string) USING parquet")
    return given.spark.readStream.table(table)


@kind()
def rate_source(given: Inputs) -> DataFrame:
    source = given.spark.readStream.format(given.pick("rate", "rate-micro-batch"))
    return source.option("rowsPerBatch", 5).load().groupBy("value").count()


@kind()
def socket_source(given: Inputs) -> DataFrame:
    source = given.spark.readStream.format("socket").option("host", "127.0.0.1").option("port", 9)
    return source.load().groupBy(f.length("value") + given.pick(1, 2)).count()


@kind(since=(4, 0))
def python_source(given: Inputs) -> DataFrame:
    from pyspark.sql.datasource import DataSource

    class Numbers(DataSource):
        @classmethod
        def name(cls) -> str:
            return "numbers"

        def schema(self) -> str:
            return "id long"

        def streamReader(self, schema: Any) -> Any:  # noqa: N802 - Spark's name
            raise NotImplementedError

    given.spark.dataSource.register(Numbers)
    source = given.spark.readStream.format("numbers").option("table", given.pick("a", "b"))
    return source.load().groupBy("id").count()


@kind(needs="kafka")
def kafka_source(given: Inputs) -> DataFrame:
    source = given.spark.readStream.format("kafka").option("kafka.bootstrap.servers", "nowhere:9")
    source = source.option("subscribe", given.pick("orders", "payments"))
    return source.load().groupBy("key").count()


@kind(needs="delta")
def delta_source(given: Inputs) -> DataFrame:
    paths = [str(given.folder / name) for name in ("delta-orders", "delta-payments")]
    for path in paths:
        given.spark.range(1).write.format("delta").mode("ignore").save(path)
    return given.spark.readStream.format("delta").load(given.pick(*paths)).groupBy("id").count()


# Sinks


@kind()
def foreach_batch_sink(given: Inputs) -> DataStreamWriter:
    writer = given.orders().groupBy("sku").count().writeStream
    return writer.foreachBatch(lambda df, batch: None).outputMode(given.pick("update", "complete"))


@kind()
def foreach_sink(given: Inputs) -> DataStreamWriter:
    writer = given.orders().writeStream.foreach(lambda row: None)
    return given.pick(writer, given.orders().writeStream.format("console"))


@kind()
def memory_sink(given: Inputs) -> DataStreamWriter:
    writer = given.orders().writeStream.format("memory").queryName("orders")
    return given.pick(writer, given.orders().writeStream.format("noop"))


@kind()
def file_sink(given: Inputs) -> DataStreamWriter:
    return given.orders().writeStream.format(given.pick("parquet", "json"))
