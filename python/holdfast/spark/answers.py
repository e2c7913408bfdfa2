"""The text that the JVM gets as an answer, and what it sends as text: `Reply.java` reads the same.

One field per line; the first line is `ok`, `absent`, `same`, `ticket` or `error`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holdfast.errors import BridgeError
from holdfast.manifest import ObjectRef

if TYPE_CHECKING:
    from holdfast.objectstore import Presigned
    from holdfast.spark.host import Recovered
    from holdfast.spark.tickets import Ticket

_OBJECT = re.compile(r"([0-9]{1,18}) ([0-9a-f]{64}) ([0-9]{1,10}) (.+)")  # size, hashes, key


def recovered_text(found: Recovered) -> str:
    """What `Driver.install` shows from now on; `warn` is the level at which to log its text."""
    return lines(
        "ok",
        found.root,
        found.claim,
        found.checkpoint,
        found.directory,
        found.catalog,
        found.segment,
        found.text,
        "warn" if found.is_warning else "info",
    )


def ticket_text(ticket: Ticket) -> str:
    """One presigned request, or one for each part, as `Ticket.java` reads it."""
    return lines(
        "ticket",
        ticket.kind,
        ticket.key,
        ticket.size,
        ticket.sha256,
        -1 if ticket.crc32 is None else ticket.crc32,
        ticket.address,
        ticket.staging,
        *(f"{name}: {value}" for name, value in ticket.headers.items()),
        *(_part(signed) for signed in (ticket.upload.parts if ticket.upload else ())),
    )


def _part(signed: Presigned) -> str:
    """A part's put: its address, then its headers, tab-separated."""
    return "\t".join((signed.url, *(f"{name}: {text}" for name, text in signed.headers.items())))


def parse_object_ref(text: str) -> ObjectRef | None:
    """The object of a large file that no manifest names yet."""
    if not text:
        return None
    found = _OBJECT.fullmatch(text)
    if found is None:
        raise BridgeError("the JVM sent an invalid object", hint="report it", object=text)
    return ObjectRef("file", found[4], int(found[1]), found[2], crc32=int(found[3]))


def lines(word: str, *fields: object) -> str:
    """One field per line; line ends inside a field become spaces."""
    shown = (" ".join(str("" if field is None else field).split("\n")) for field in fields)
    return "\n".join((word, *shown))
