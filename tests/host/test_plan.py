"""The description of a plan, from Spark's texts: what is made up is left out, the rest is not."""

from __future__ import annotations

import pytest

from holdfast.spark.plan import PlanNode, StreamSource, plan_lines, schema_text

WATERMARK = "~EventTimeWatermark {}, at#{}: timestamp, 10 seconds"
UUIDS = ("78516e69-1111-4111-8111-111111111111", "0a0b0c0d-2222-4222-8222-222222222222")


def line(operator: str, text: str) -> str:
    (only,) = plan_lines([PlanNode(operator=operator, text=text, inputs=1)])
    return only


def source(**options: str) -> str:
    read = StreamSource(format="json", schema="struct<id:bigint>", columns="id#7L", options=options)
    (only,) = plan_lines([PlanNode(operator="StreamingRelation", text="", source=read)])
    return only


def test_the_id_of_a_watermark_is_left_out_and_its_delay_is_not() -> None:
    """It is a random UUID."""
    lines = {line("EventTimeWatermark", WATERMARK.format(uuid, 9)) for uuid in UUIDS}
    assert lines == {"EventTimeWatermark at#0: timestamp, 10 seconds"}


def test_a_users_own_uuid_stays() -> None:
    """Only Spark's are made up."""
    assert UUIDS[0] in line("Filter", f"Filter (tenant#4 = {UUIDS[0]})")


def test_columns_of_one_name_are_numbered_in_order_of_appearance() -> None:
    """So two processes agree, and `a.id = b.id` differs from `a.id = a.id`."""
    assert line("Join", "Join Inner, (id#86L = id#90L)") == "Join Inner, (id#0L = id#1L)"
    assert line("Join", "Join Inner, (id#13L = id#8L)") == "Join Inner, (id#0L = id#1L)"
    assert line("Join", "Join Inner, (id#86L = id#86L)") == "Join Inner, (id#0L = id#0L)"


def test_ids_are_numbered_from_the_sources_up() -> None:
    """An operator more at the top leaves the lines below it as they were."""
    below = [
        PlanNode(operator="Project", text="Project [id#5L AS id#6L]", inputs=1),
        PlanNode(operator="LocalRelation", text="LocalRelation [id#5L]"),
    ]
    above = PlanNode(operator="Project", text="Project [id#6L AS id#7L]", inputs=1)
    assert plan_lines([above, *below])[1:] == plan_lines(below)


def test_what_only_looks_like_an_id_stays() -> None:
    """A number after a space is a text of the user's."""
    assert line("Filter", "Filter (sku#3 = order #12)") == "Filter (sku#0 = order #12)"


@pytest.mark.parametrize(
    ("operator", "one", "other"),
    [
        ("CTERelationDef", "CTERelationDef 0, false", "CTERelationDef 7, false"),
        ("CollectMetrics", "CollectMetrics m, [count(1)], 3", "CollectMetrics m, [count(1)], 159"),
        ("Sample", "Sample 0.0, 0.5, false, -85341100941", "Sample 0.0, 0.5, false, 12345678901"),
        ("Range", "Range (0, 9, step=1, splits=Some(2))", "Range (0, 9, step=1, splits=None)"),
        ("Project", "Project [lambda x_1#4]", "Project [lambda x_27#9]"),
        ("Project", "Project [rand(-3264986588820486974)]", "Project [rand(6010881312437826904)]"),
        ("Project", "Project [uuid(Some(88324857050388))]", "Project [uuid(Some(-85827406116))]"),
        (
            "Project",
            "Project [randstr(5, 50770999785, true)]",
            "Project [randstr(5, -3014296725, true)]",
        ),
        ("Filter", "Filter sku#1 IN (b,a,cast(1 as int))", "Filter sku#9 IN (cast(1 as int),a,b)"),
        ("Other", "Other org.apache.spark.A$B@1a2b3c", "Other org.apache.spark.A$B@5e1fa5b1"),
        ("View", "View (`v`, [id#1,sku#2])", "~View (`v`, [id#3, sku#4])"),
        ("View", f"View (`_pyspark_{32 * 'a'}`, [])", f"View (`_pyspark_{32 * 'b'}`, [])"),
    ],
)
def test_what_a_process_makes_up_is_left_out(operator: str, one: str, other: str) -> None:
    """Ids, seeds, counters, hashes, the order of a set."""
    assert line(operator, one) == line(operator, other)


@pytest.mark.parametrize(
    ("operator", "one", "other"),
    [
        ("Sample", "Sample 0.0, 0.5, false, 42", "Sample 0.0, 0.5, false, 43"),
        ("Project", "Project [rand(7)]", "Project [rand(8)]"),
        ("Filter", "Filter (id#1L = 12345678901234567)", "Filter (id#1L = 12345678901234568)"),
        ("Filter", "Filter sku#1 IN (a,b)", "Filter sku#1 IN (a,c)"),
        ("Range", "Range (0, 9, step=1, splits=Some(2))", "Range (0, 10, step=1, splits=Some(2))"),
        ("Project", f"Project [{'a, ' * 900}b]", f"Project [{'a, ' * 900}c]"),
    ],
)
def test_what_the_user_wrote_stays(operator: str, one: str, other: str) -> None:
    """Seeds and long numbers of the user's own, and the end of a long line."""
    assert line(operator, one) != line(operator, other)


def test_a_long_line_is_bounded() -> None:
    """The description is part of every manifest."""
    assert len(line("Project", f"Project [{'a, ' * 100_000}]")) < 1100


def test_how_many_inputs_an_operator_has_counts() -> None:
    """Two unions of two, one in the other, are not one union of three."""
    three = PlanNode(operator="Union", text="Union", inputs=3)
    two = PlanNode(operator="Union", text="Union", inputs=2)
    assert plan_lines([three]) != plan_lines([two])
    inner = PlanNode(operator="Filter", text="Filter", inputs=1, subqueries=1)
    assert plan_lines([inner]) == ["Filter (subqueries: 1)"]


def test_a_source_is_what_it_reads_and_not_how_fast() -> None:
    """A path or a topic counts; a rate limit or a broker's address may change."""
    plain = source(path="/orders", maxFilesPerTrigger="1")
    assert plain == 'StreamingRelation json {"path": "/orders"} struct<id:bigint> [id#0L]'
    assert source(PATH="/orders", maxFilesPerTrigger="9") == plain
    assert source(path="/payments") != plain


def test_no_secret_of_a_source_is_described() -> None:
    """The description is written to the store, in clear."""
    text = source(
        path="s3a://key:hunter2@bucket/orders",
        password="hunter2",
        **{"kafka.sasl.jaas.config": "hunter2", "connectionString": "hunter2"},
    )
    assert "hunter2" not in text


def test_a_column_that_is_named_after_a_seed() -> None:
    """Spark names it so where the user gives it no name."""
    assert schema_text("struct<rand(-326498658882):double>") == "struct<rand():double>"
