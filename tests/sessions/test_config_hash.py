"""The config hash: what changes it, what does not, and what is said about a change."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest

from holdfast.errors import ConfigError
from holdfast.sessions import (
    JoinConfig,
    QueryConfig,
    SourceConfig,
    config_difference,
    config_hash,
)
from holdfast.sessions.confighash import fnv1a

ORDERS = SourceConfig(
    id="orders", nodes=("Order", "Item"), relations=("OF", "IN"), pipeline=("p", "q")
)
STOCK = SourceConfig(id="stock", nodes=("Bin",))
JOIN = JoinConfig(id="j", keys=(("Order", "sku"), ("Bin", "sku")))
OTHER_JOIN = JoinConfig(id="k", keys=(("Bin", "site"),))
QUERY = QueryConfig(
    query="MATCH (o:Order) RETURN o",
    query_language="cypher",
    middleware=({"kind": "map", "name": "m"}, {"kind": "jq", "name": "n"}),
    sources=(ORDERS, STOCK),
    joins=(JOIN, OTHER_JOIN),
)


@pytest.mark.parametrize(
    ("data", "expected"),
    [(b"", 0xCBF29CE484222325), (b"a", 0xAF63DC4C8601EC8C), (b"foobar", 0x85944171F73967E8)],
)
def test_fnv1a_is_the_published_one(data: bytes, expected: int) -> None:
    """The vectors of the hash's own reference page."""
    assert fnv1a(data) == expected


def test_hash_is_over_compact_json_and_a_byte() -> None:
    """Stored hashes compare for ever, so this must never change."""
    assert config_hash({"b": 1, "a": [True, None]}) == fnv1a(b'{"a":[true,null],"b":1}\xff')
    assert config_hash({}) == 0xC736581983DDA06E
    assert config_hash(QUERY) == 0x2EF88B473EFFCE27


@pytest.mark.parametrize(
    "same",
    [
        replace(QUERY, sources=(STOCK, ORDERS)),
        replace(QUERY, sources=(replace(ORDERS, nodes=("Item", "Order", "Item")), STOCK)),
        replace(QUERY, sources=(replace(ORDERS, relations=("IN", "OF", "OF")), STOCK)),
        replace(QUERY, joins=(OTHER_JOIN, JOIN)),
        replace(QUERY, joins=(replace(JOIN, keys=JOIN.keys[::-1]), OTHER_JOIN)),
        replace(QUERY, middleware=({"name": "m", "kind": "map"}, QUERY.middleware[1])),
        replace(QUERY, id="another"),
        replace(QUERY, settings={"auto_start": False, "priority_queue_capacity": 5}),
        replace(QUERY, settings={"storage_backend": "rocks", "recovery_policy": "strict"}),
    ],
)
def test_what_a_query_is_not_does_not_count(same: QueryConfig) -> None:
    """Order and repetition where they mean nothing, and how the query is run."""
    assert config_hash(same) == config_hash(QUERY)
    assert config_difference(same, QUERY) == ()


@pytest.mark.parametrize(
    "other",
    [
        replace(QUERY, query="MATCH (o:Order) RETURN o "),
        replace(QUERY, query_language="gql"),
        replace(QUERY, middleware=QUERY.middleware[::-1]),
        replace(QUERY, sources=(ORDERS,)),
        replace(QUERY, sources=(replace(ORDERS, nodes=("Order",)), STOCK)),
        replace(QUERY, sources=(replace(ORDERS, pipeline=("q", "p")), STOCK)),
        replace(QUERY, sources=(replace(ORDERS, id="order"), STOCK)),
        replace(QUERY, joins=()),
        replace(QUERY, joins=None),
        replace(QUERY, joins=(replace(JOIN, keys=(("Order", "sku"), ("Bin", "id"))), OTHER_JOIN)),
    ],
)
def test_what_a_query_is_counts(other: QueryConfig) -> None:
    """Each of these needs a fresh start, and is named."""
    assert config_hash(other) != config_hash(QUERY)
    assert config_difference(other, QUERY) != ()


def test_no_joins_and_an_empty_list_differ() -> None:
    """As in the seed system."""
    assert config_hash(replace(QUERY, joins=None)) != config_hash(replace(QUERY, joins=()))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": 1}, {"a": 1.0}),
        ({"a": 1}, {"a": True}),
        ({"a": None}, {}),
        ({"a": {}}, {"a": []}),
        ({"a": [1, 2]}, {"a": [2, 1]}),
    ],
)
def test_plain_values_are_told_apart(one: dict[str, Any], other: dict[str, Any]) -> None:
    """Python's idea of equality is not JSON's."""
    assert config_hash(one) != config_hash(other)
    assert len(config_difference(one, other)) >= 1


def test_any_mapping_and_any_order_will_do() -> None:
    """A frozen mapping, a tuple and other insertion orders are the same configuration."""
    plain = {"sink": {"path": "x", "mode": "append"}, "sources": ["a", "b"]}
    frozen = MappingProxyType(
        {"sources": ("a", "b"), "sink": MappingProxyType({"mode": "append", "path": "x"})}
    )
    assert config_hash(frozen) == config_hash(plain)
    assert config_difference(frozen, plain) == ()


@pytest.mark.parametrize(
    "value", [float("nan"), [float("inf")], object(), {1: 2}, {"x"}, 2**64, "\ud800", QUERY, b"x"]
)
def test_what_json_cannot_hold_is_refused(value: Any) -> None:
    """It is never hashed as something else, such as null."""
    with pytest.raises(ConfigError):
        config_hash({"deep": {"value": value}})


def test_a_cycle_is_refused() -> None:
    """It ends with an error of ours."""
    config: dict[str, Any] = {}
    config["self"] = config
    with pytest.raises(ConfigError):
        config_hash(config)


def test_differences_are_named_by_path() -> None:
    """Changed, added and removed fields, at any depth."""
    old = {"plan": "p", "sink": {"path": "x", "mode": "append"}, "keys": [1, 2], "gone": 1}
    new = {"plan": "p", "sink": {"path": "y", "mode": "append"}, "keys": [1, 3, 4], "user": {}}
    assert [str(change) for change in config_difference(old, new)] == [
        "gone: removed 1",
        "keys[1]: 2 → 3",
        "keys[2]: added 4",
        'sink.path: "x" → "y"',
        "user: added {}",
    ]


def test_lists_of_objects_are_compared_by_id() -> None:
    """A source more in front does not make all others look changed."""
    more = replace(QUERY, sources=(SourceConfig(id="a"), ORDERS, STOCK))
    changes = config_difference(QUERY, more)
    assert [change.path for change in changes] == ["sources[a]"]


def test_lines_of_text_are_aligned() -> None:
    """A line more in a plan is one change, wherever it stands."""
    old = {"plan": ["Aggregate", "Project", "Relation"]}
    new = {"plan": ["Aggregate", "Filter", "Project", "Relation x"]}
    assert [str(change) for change in config_difference(old, new)] == [
        'plan[1]: added "Filter"',
        'plan[2]: "Relation" → "Relation x"',
    ]
    assert [str(change) for change in config_difference(new, {"plan": ["Project"]})] == [
        'plan[0]: removed "Aggregate"',
        'plan[1]: removed "Filter"',
        'plan[3]: removed "Relation x"',
    ]


def test_long_texts_show_where_they_differ() -> None:
    """A plan of many lines is cut to the place that counts."""
    plan = "Project " * 100
    (change,) = config_difference({"plan": plan + "a"}, {"plan": plan + "b"})
    assert str(change).count("…") == 2
    assert str(change).endswith('b"')
    assert len(str(change)) < 100
