"""Objects of other queries: a clone names them, and a ref at their owner protects them.

A clone first notes in its own chain at which queries it will hold refs (a hold), then puts the
refs, then begins. The refs are deleted before the hold. So a ref without its hold is stale, and
whoever removes a clone, even one that was cut short, finds every ref that it holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson

from holdfast.chain.context import Context
from holdfast.chain.read import read_twice
from holdfast.errors import NotFoundError
from holdfast.layout import Keys, query_of_path
from holdfast.layout import Kind as KeyKind
from holdfast.manifest.envelope import FORMAT, check_format, check_seal, seal
from holdfast.manifest.fields import parse_object
from holdfast.objectstore import PutMode, scan
from holdfast.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterable

    from holdfast.manifest.files import ObjectRef


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """The queries, by their roots, at which one incarnation of a clone holds refs.

    `number` is that of its first manifest.
    """

    incarnation: str
    number: int
    roots: tuple[str, ...]

    def encode(self, query: str) -> bytes:
        document: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            "query": query,
            "incarnation": self.incarnation,
            "number": self.number,
            "roots": self.roots,
        }
        return seal(orjson.dumps(document))

    @classmethod
    def decode(cls, data: bytes) -> Hold:
        fields = parse_object(data, "hold")
        check_format(fields, "hold")
        check_seal(data, "hold")
        return cls(
            incarnation=fields.text("incarnation"),
            number=fields.integer("number"),
            roots=tuple(fields.array("roots", of=str)),
        )


def of_query(context: Context, query: str) -> Context:
    """The same store, seen as another query's."""
    return Context(
        store=context.store,
        query=query,
        settings=context.settings,
        clock=context.clock,
        nonces=context.nonces,
        writer=context.writer,
    )


def roots_named(refs: Iterable[ObjectRef]) -> set[str]:
    """The roots of the queries whose objects are named as another's."""
    foreign = {ref.key for ref in refs if ref.key.startswith("/")}
    return {f"{key[1:].rpartition('/checkpoints/')[0]}/" for key in foreign}


def put_hold(context: Context, hold: Hold) -> None:
    """Note where refs will be held; before the first of them."""
    body = hold.encode(context.query)
    context.store.put(context.keys.hold(hold.incarnation), body, mode=PutMode.CREATE)


def read_holds(context: Context) -> list[Hold]:
    """Every hold of this query, also those of clones that never began.

    Raises:
        CorruptionError: one cannot be read.
    """

    def read(key: str) -> Hold | None:
        try:
            return read_twice(lambda: Hold.decode(context.store.get(key).body))
        except NotFoundError:
            return None

    parsed = ((m.key, context.keys.parse(m.key)) for m in scan(context.store, context.keys.holds))
    keys = [key for key, found in parsed if found is not None and found.kind is KeyKind.HOLD]
    return [hold for hold in map(read, keys) if hold is not None]


def release(context: Context, incarnation: str, roots: Iterable[str]) -> None:
    """Delete the refs that this query holds at these roots."""
    owners = [Keys(root) for root in sorted(roots)]
    keys = [owner.clone(context.query, incarnation) for owner in owners]
    # Refs that were put before incarnations have the query's name alone.
    context.store.delete([*keys, *(owner.clone(context.query) for owner in owners)])


def release_hold(context: Context, hold: Hold) -> None:
    """Delete all refs of a hold, then the hold itself."""
    release(context, hold.incarnation, hold.roots)
    context.store.delete([context.keys.hold(hold.incarnation)])


def is_held(context: Context, clone: str, incarnation: str) -> bool:
    """Whether a clone still has the hold for its ref; without it the ref is stale."""
    if not incarnation:
        return True
    try:
        context.store.head(of_query(context, clone).keys.hold(incarnation))
    except NotFoundError:
        return False
    return True


def owner_of(context: Context, root: str) -> Context:
    """The query with this root."""
    return of_query(context, query_of_path(root))
