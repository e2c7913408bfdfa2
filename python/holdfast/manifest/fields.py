"""Typed reading of decoded JSON: a wrong type is a `CorruptionError` that names the field.

The same reading is the check before writing, so nothing is stored that could not be read back.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any, TypeVar

import orjson

from holdfast.errors import ConfigError, CorruptionError
from holdfast.settings import U64_MAX

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Buffer

T = TypeVar("T")

U32_MAX = 2**32 - 1
I64_MIN = -(2**63)
I64_MAX = 2**63 - 1


def parse_object(data: Buffer, what: str) -> Fields:
    """One JSON object.

    Raises:
        CorruptionError: not JSON, or not an object.
    """
    try:
        value = orjson.loads(memoryview(data))
    except orjson.JSONDecodeError as error:
        raise CorruptionError(f"{what} is not JSON", reason=error) from error
    return Fields(value, what)


def encode_checked(
    document: dict[str, Any], read: Callable[[Fields], object], what: str, *, pretty: bool
) -> bytes:
    """The JSON text of a document that `read` takes.

    Raises:
        ConfigError: it does not, or JSON cannot hold it.
    """
    try:
        read(Fields(document, what))
        return orjson.dumps(document, option=orjson.OPT_INDENT_2 if pretty else 0)
    except (CorruptionError, orjson.JSONEncodeError, TypeError) as error:
        raise ConfigError(f"{what} holds what no reader could take", reason=error) from error


class Fields:
    """One JSON object while it is being read; what no one takes is left over."""

    def __init__(self, value: object, what: str) -> None:
        if not isinstance(value, dict):
            raise CorruptionError(f"{what} is not a JSON object", type=type(value).__name__)
        self._left: dict[str, Any] = dict(value)
        self._what = what

    def rest(self) -> dict[str, Any]:
        """The fields that were not taken, as they are."""
        return self._left

    def wrong(self, name: str, expected: str, value: object) -> CorruptionError:
        return CorruptionError(
            f"{self._what} has a wrong field",
            field=name,
            expected=expected,
            found=repr(value)[:80],
        )

    def required(self, name: str) -> Any:  # noqa: ANN401 - JSON is what it is
        if name not in self._left:
            raise CorruptionError(f"{self._what} lacks a field", field=name)
        return self._left.pop(name)

    def optional(self, name: str) -> Any:  # noqa: ANN401 - JSON is what it is
        return self._left.pop(name, None)

    def integer(
        self, name: str, *, low: int = 0, high: int = U64_MAX, default: int | None = None
    ) -> int:
        """A whole number in a range; booleans and floats are not numbers here."""
        value = self.required(name) if default is None else self._left.pop(name, default)
        if type(value) is not int or not low <= value <= high:
            raise self.wrong(name, f"integer from {low} to {high}", value)
        return value

    def optional_integer(self, name: str, *, low: int = 0, high: int = U64_MAX) -> int | None:
        if self._left.get(name) is None:
            self._left.pop(name, None)
            return None
        return self.integer(name, low=low, high=high)

    def boolean(self, name: str, *, default: bool | None = None) -> bool:
        value = self.required(name) if default is None else self._left.pop(name, default)
        if not isinstance(value, bool):
            raise self.wrong(name, "boolean", value)
        return value

    def text(self, name: str, *, default: str | None = None) -> str:
        value = self.required(name) if default is None else self._left.pop(name, default)
        if not isinstance(value, str):
            raise self.wrong(name, "text", value)
        return value

    def optional_text(self, name: str) -> str | None:
        if self._left.get(name) is None:
            self._left.pop(name, None)
            return None
        return self.text(name)

    def integers(self, name: str, *, low: int = 0, high: int = U64_MAX) -> list[int]:
        """A list of whole numbers in a range."""
        values: list[int] = self.array(name, of=int)
        if values and not (low <= min(values) and max(values) <= high):
            raise self.wrong(name, f"integers from {low} to {high}", (min(values), max(values)))
        return values

    def array(self, name: str, *, of: type | None = None, missing_ok: bool = True) -> list[Any]:
        """A list, and if asked, of one type throughout."""
        value = self._left.pop(name, []) if missing_ok else self.required(name)
        if not isinstance(value, list) or (of is not None and not set(map(type, value)) <= {of}):
            raise self.wrong(name, f"list of {of.__name__ if of else 'anything'}", value)
        return value

    def mapping(
        self, name: str, read: Callable[[Any, str], T], *, missing_ok: bool = True
    ) -> dict[str, T]:
        """An object whose values are all read the same way."""
        value = self._left.pop(name, {}) if missing_ok else self.required(name)
        if not isinstance(value, dict):
            raise self.wrong(name, "object", value)
        return {key: read(item, f"{self._what}.{name}[{key}]") for key, item in value.items()}

    def object(self, name: str) -> Fields:
        return Fields(self.required(name), f"{self._what}.{name}")


def as_text(value: object, what: str) -> str:
    if not isinstance(value, str):
        raise CorruptionError(f"{what} is not text", found=repr(value)[:80])
    return value


def as_integer(low: int, high: int) -> Callable[[object, str], int]:
    """A reader for `Fields.mapping`."""

    def read(value: object, what: str) -> int:
        if type(value) is not int or not low <= value <= high:
            raise CorruptionError(f"{what} is not an integer in range", found=repr(value)[:80])
        return value

    return read


as_u64 = as_integer(0, U64_MAX)
as_i64 = as_integer(I64_MIN, I64_MAX)


def decode_base64(text: str, what: str) -> bytes:
    """The bytes of standard, padded base64 in the one form that the seed's readers take.

    Raises:
        CorruptionError: the text is not that.
    """
    try:
        data = base64.b64decode(text, validate=True)
    except ValueError as error:
        raise CorruptionError(f"{what} is not base64", reason=error) from error
    # Python lets the unused bits of the last character be anything.
    if base64.b64encode(data[-(len(data) % 3 or 3) :]).decode() != text[-4:]:
        raise CorruptionError(f"{what} is not base64", reason="unused bits are set")
    return data
