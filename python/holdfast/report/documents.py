"""What all documents share: their keys, who wrote, and how a query is addressed.

A document is a dataclass of plain values. Its fields are the keys of the JSON, in their order;
they are only ever added to. Times come twice, as milliseconds and as text in UTC.
"""

from __future__ import annotations

import dataclasses
import functools
import typing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.layout import query_path

if TYPE_CHECKING:
    from holdfast.ids import Writer

Format: typing.TypeAlias = typing.Literal["chain", "plain", "flat", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WriterPart:
    """Who wrote something: enough to find the process."""

    user: str
    host: str
    application: str
    pid: int

    @classmethod
    def of(cls, writer: Writer) -> WriterPart:
        return cls(
            user=writer.user, host=writer.host, application=writer.application, pid=writer.pid
        )

    def __str__(self) -> str:
        at = f"{self.user}@{self.host}" if self.user else self.host
        return f"{self.application} on {at}, pid {self.pid}"


@dataclass(frozen=True, slots=True, kw_only=True)
class IssuePart:
    """One thing that is wrong; a warning does not make anything invalid."""

    severity: str
    message: str


def address(store: str, query: str) -> str:
    """The URL by which a command finds this query."""
    place, mark, options = store.partition("?")
    return f"{place.rstrip('/')}/{query_path(query)}{mark}{options}" if query else store


@functools.cache
def json_keys(document: type) -> str:
    """The keys of a document and of all that is in it, as one line."""
    hints = typing.get_type_hints(document)
    return ", ".join(
        f"{field.name}{_keys_inside(hints[field.name])}" for field in dataclasses.fields(document)
    )


def _keys_inside(hint: object) -> str:
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return f" {{{json_keys(hint)}}}"
    inside = "".join(_keys_inside(argument) for argument in typing.get_args(hint))
    is_list = typing.get_origin(hint) in (list, tuple)
    return f" [{inside.strip()}]" if is_list and inside else inside
