"""The stored document: its bytes for ever, and that no damage passes."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from holdfast.errors import ConfigError, CorruptionError, HoldfastError
from holdfast.layout import Keys, Kind, Parsed
from holdfast.manifest.envelope import seal
from holdfast.sessions import SourceCheckpoint, SourceState, document
from holdfast.sessions.document import Document
from tests.sessions.support import WRITER

DOCUMENT = Document(
    number=12,
    nonce="n-1",
    writer=WRITER,
    written_ms=1_700_000_000_000,
    state=SourceState(
        sources={
            "right": SourceCheckpoint(2**64 - 1, b"\x00\xff"),
            "left": SourceCheckpoint(0, b""),
            "none": SourceCheckpoint(1),
        },
        config_hash=2**64 - 1,
        config={"plan": "count", "partitions": 200},
    ),
)
GOLDEN = (
    b'{"config":{"partitions":200,"plan":"count"},"config_hash":18446744073709551615,"format":1,'
    b'"nonce":"n-1","number":12,"sources":{"left":{"position":"","sequence":0},'
    b'"none":{"position":null,"sequence":1},'
    b'"right":{"position":"AP8=","sequence":18446744073709551615}},"version":"0.1.0",'
    b'"writer":{"application":"test","host":"host","pid":7,"user":"user"},'
    b'"written_ms":1700000000000,'
    b'"checksum":"55df7f0aa37af3cb412e06df7e7462d0778f5d47016c325c1cb92a23f75dc670"}'
)


def test_bytes_are_those_of_version_1(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was written once is read for ever."""
    monkeypatch.setattr(document, "VERSION", "0.1.0")
    assert DOCUMENT.encode() == GOLDEN
    assert Document.decode(GOLDEN, 12) == DOCUMENT


def test_any_flipped_bit_is_found() -> None:
    """No document with a wrong bit is read, wherever it is."""
    data = bytearray(DOCUMENT.encode())
    for place in range(len(data)):
        for bit in range(8):
            data[place] ^= 1 << bit
            with pytest.raises(HoldfastError):
                Document.decode(data, 12)
            data[place] ^= 1 << bit


def test_any_truncation_is_found() -> None:
    """Half of a document is none."""
    data = DOCUMENT.encode()
    for end in range(len(data)):
        with pytest.raises(CorruptionError):
            Document.decode(data[:end], 12)


def test_a_document_under_another_number_is_found() -> None:
    """Two documents that were swapped are not mistaken for each other."""
    with pytest.raises(CorruptionError, match="another number"):
        Document.decode(DOCUMENT.encode(), 13)


def test_a_later_format_is_no_damage() -> None:
    """An old version refuses a newer document and says so; a reset must not wipe it."""
    data = DOCUMENT.encode().replace(b'"format":1', b'"format":2')
    with pytest.raises(ConfigError, match="newer holdfast") as caught:
        Document.decode(data, 12)
    assert not isinstance(caught.value, CorruptionError)


def _signed(**changes: Any) -> bytes:
    body = orjson.loads(DOCUMENT.encode())
    body.pop("checksum")
    body |= changes
    return seal(orjson.dumps(body))


@pytest.mark.parametrize(
    "changes",
    [
        {"sources": []},
        {"sources": {"a": 1}},
        {"sources": {"a": {"sequence": -1, "position": None}}},
        {"sources": {"a": {"sequence": 1, "position": "?"}}},
        {"config_hash": 2**63 + 0.0},
        {"config": [1]},
        {"writer": None},
        {"nonce": 5},
    ],
)
def test_a_wrong_type_is_found_under_a_right_checksum(changes: dict[str, Any]) -> None:
    """A checksum proves who wrote, not that it makes sense."""
    with pytest.raises(CorruptionError):
        Document.decode(_signed(**changes), 12)


def test_unknown_fields_are_passed_over() -> None:
    """A field that this version does not know is covered by the checksum and does no harm."""
    assert Document.decode(_signed(note="later"), 12) == DOCUMENT


def test_too_much_for_one_document_is_refused() -> None:
    """A state beyond 16 MiB is refused before it is written, not when it is read."""
    config = {"plan": "x" * (16 * 1024 * 1024)}
    with pytest.raises(ConfigError, match="too big"):
        Document(
            number=1, nonce="n", writer=WRITER, written_ms=0, state=SourceState(config=config)
        ).encode()


@pytest.mark.parametrize("number", [1, 999_999, 1_000_000, 2**64 - 1])
def test_keys_are_parsed_as_they_are_built(number: int) -> None:
    """Build and parse agree, and a foreign key is none of ours."""
    keys = Keys.under("query")
    key = keys.source_commit(number)
    assert key.startswith(keys.sources)
    assert keys.parse(key) == Parsed(kind=Kind.SOURCES, number=number)
    assert keys.parse(f"{key}.tmp") is None
