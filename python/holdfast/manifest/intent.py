"""An intent: the object that reserves a number, with the plan of its batch or void."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

import orjson

from holdfast.errors import CorruptionError
from holdfast.manifest.envelope import (
    FORMAT,
    check_format,
    check_seal,
    seal,
    writer_from_json,
    writer_to_json,
)
from holdfast.manifest.fields import Fields, parse_object
from holdfast.manifest.plan import Plan
from holdfast.version import VERSION

if TYPE_CHECKING:
    from holdfast.ids import Writer


class IntentKind(Enum):
    """What a number is reserved for."""

    PLAN = "plan"
    VOID = "void"
    ROLLBACK = "rollback"


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """Create-only, like a manifest; `target` is the checkpoint a rollback goes back to."""

    kind: IntentKind
    number: int
    nonce: str
    claim: int
    query: str
    writer: Writer
    timestamp_ms: int
    incarnation: str = ""
    plan: Plan | None = None
    target: int | None = None

    def encode(self) -> bytes:
        document: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            "kind": self.kind.value,
            "number": self.number,
            "nonce": self.nonce,
            "claim": self.claim,
            "query": self.query,
            "incarnation": self.incarnation,
            "writer": writer_to_json(self.writer),
            "timestamp_ms": self.timestamp_ms,
            "plan": self.plan.to_json() if self.plan else None,
            "target": self.target,
        }
        return seal(orjson.dumps(document))


def decode_intent(data: bytes, *, number: int, query: str) -> Intent:
    """Read and check what should be intent `number` of this query.

    Raises:
        CorruptionError: damaged, or of another number or query.
        ConfigError: written by a newer version than this one reads.
    """
    what = f"intent {number}"
    fields = parse_object(data, what)
    check_format(fields, what)
    check_seal(data, what)
    intent = _intent(fields)
    if (intent.number, intent.query) != (number, query):
        raise CorruptionError(
            f"{what} is another's", number=intent.number, query=intent.query, expected=query
        )
    if (intent.plan is not None) != (intent.kind is IntentKind.PLAN):
        raise CorruptionError(f"{what} contradicts itself about its plan")
    return intent


def _intent(fields: Fields) -> Intent:
    kind = fields.text("kind")
    if kind not in IntentKind._value2member_map_:
        raise fields.wrong("kind", "a known kind", kind)
    plan = fields.optional("plan")
    return Intent(
        kind=IntentKind(kind),
        number=fields.integer("number"),
        nonce=fields.text("nonce"),
        claim=fields.integer("claim"),
        query=fields.text("query"),
        incarnation=fields.text("incarnation", default=""),
        writer=writer_from_json(fields.object("writer")),
        timestamp_ms=fields.integer("timestamp_ms"),
        plan=None if plan is None else Plan.from_json(plan, "plan"),
        target=fields.optional_integer("target"),
    )
