"""The description of a query's plan: what the user wrote, without what Spark makes up.

Spark's text of a plan contains ids that differ between two processes: expression ids, the id of a
watermark, seeds, counters, object hashes. Each of them is left out, or replaced by its order of
appearance where it tells two things apart. What a process does not make up stays.

Invariants
- The same program gives the same description in every process on the same Spark.
- Two columns with one name stay different: `id#0 = id#1` is not `id#0 = id#0`.
- No option of a source is recorded but those of `_IDENTITY`: others may hold secrets.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.objectstore import redact

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_LINE_CHARACTERS_MAX = 1000

# The options that say what a source reads. Rate limits, credentials and addresses of brokers are
# not among them: they may change between two starts of one query.
_IDENTITY = {
    "assign", "path", "streamname", "subscribe", "subscribepattern",
    "table", "topic", "topics", "topicspattern",
}  # fmt: skip

# `name#12L`: an expression id after a name, or after the end of an expression.
_ID = re.compile(r"(?P<name>\w*)(?<=\S)#(?P<id>\d+|[0-9a-f]{32})(?=L?\b)")
# PySpark numbers the variables of a lambda in the order in which a process makes them.
_LAMBDA = re.compile(r"\blambda (\w+?)_\d+(?=#)")
# The name that PySpark gives to a DataFrame in `spark.sql("… {orders} …", orders=…)`.
_FORMATTED = re.compile(r"\b_pyspark_([0-9a-f]{32})\b")
_OBJECT_HASH = re.compile(r"\b((?:\w+\.)+[\w$]+)@[0-9a-f]{1,8}\b")
# A seed that Spark has drawn is a random 64-bit number; one that a user gives is hardly that long.
_SEED = re.compile(r"((?:\brandn?|\brandom|\bSome)\()-?\d{10,}(?=\))|-?\d{10,}(?=, true[,)])")
# `isin` of a Python set has another order in each process, and the order means nothing.
_IN = re.compile(r"(?<= IN )\(((?:[^()]|\([^()]*\))*)\)")
_IN_ITEM = re.compile(r"(?:[^,()]|\([^()]*\))+")
_SPACE = re.compile(r"\s+")

_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
# What one kind of operator makes up.
_BY_OPERATOR: Mapping[str, tuple[re.Pattern[str], str]] = {
    "EventTimeWatermark": (re.compile(rf"(?<=^EventTimeWatermark ){_UUID}, "), ""),
    "CTERelationDef": (re.compile(r"(?<=^CTERelationDef )(?=\d)"), "cte#"),
    "CTERelationRef": (re.compile(r"(?<=^CTERelationRef )(?=\d)"), "cte#"),
    "CollectMetrics": (re.compile(r", \d+$"), ""),
    "Sample": (re.compile(r", -?\d{10,}"), ""),
    "Range": (re.compile(r", splits=\w+(\(\d+\))?"), ""),  # as many as the cluster has cores
    "View": (re.compile(r",(?=\S)"), ", "),  # which Spark 3.5 writes without a space
}


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamSource:
    """What a streaming query reads from; `columns` are those of `schema` with expression ids."""

    format: str
    schema: str
    columns: str
    options: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanNode:
    """One operator of an analyzed plan, with Spark's text, and how many plans it is made of."""

    operator: str
    text: str
    subqueries: int = 0
    inputs: int = 0
    source: StreamSource | None = None


def plan_lines(nodes: Sequence[PlanNode]) -> list[str]:
    """One line for each operator, each before its subqueries and inputs.

    Ids are numbered from the sources up, so that a change shows in the lines above it only.
    """
    number = _numbering()
    lines = [_IN.sub(_sorted, number(_node_text(node))) for node in reversed(nodes)]
    return [_shortened(line) for line in reversed(lines)]


def schema_text(schema: str) -> str:
    """A schema, in which a column may be named after the seed that Spark has drawn."""
    return _shortened(_SEED.sub(r"\1", schema))


def _node_text(node: PlanNode) -> str:
    if node.source is not None:
        return _source_text(node.source)
    text = _SPACE.sub(" ", node.text).strip().removeprefix("~")  # `~` marks what streams
    pattern, replacement = _BY_OPERATOR.get(node.operator, (None, ""))
    if pattern is not None:
        text = pattern.sub(replacement, text)
    text = _LAMBDA.sub(r"lambda \1", text)
    text = _FORMATTED.sub(r"_pyspark#\1", text)
    text = _OBJECT_HASH.sub(r"\1", text)
    return _SEED.sub(r"\1", text) + _shape(node)


def _source_text(source: StreamSource) -> str:
    """The same for every interface of Spark that a source may use, and without its limits."""
    given = {name.lower(): value for name, value in source.options.items()}
    shown = {name: redact(value) for name, value in given.items() if name in _IDENTITY}
    identity = json.dumps(shown, sort_keys=True, ensure_ascii=False)
    return f"StreamingRelation {source.format} {identity} {source.schema} [{source.columns}]"


def _shape(node: PlanNode) -> str:
    """How many of the next lines' plans belong to this one, where its name does not tell."""
    parts = []
    if node.subqueries:
        parts.append(f"subqueries: {node.subqueries}")
    if node.inputs > 1:
        parts.append(f"inputs: {node.inputs}")
    return f" ({', '.join(parts)})" if parts else ""


def _sorted(found: re.Match[str]) -> str:
    return f"({','.join(sorted(_IN_ITEM.findall(found[1])))})"


def _numbering() -> Callable[[str], str]:
    """Replaces ids by their order of appearance, for each name by itself."""
    seen: dict[str, dict[str, int]] = {}

    def number(found: re.Match[str]) -> str:
        known = seen.setdefault(found["name"].lower(), {})
        return f"{found['name']}#{known.setdefault(found['id'], len(known))}"

    return lambda line: _ID.sub(number, line)


def _shortened(line: str) -> str:
    """A long line by its beginning and the hash of the whole: it is part of every manifest."""
    if len(line) <= _LINE_CHARACTERS_MAX:
        return line
    digest = hashlib.sha256(line.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{line[:_LINE_CHARACTERS_MAX]}… ({len(line)} characters, SHA-256 {digest}…)"
