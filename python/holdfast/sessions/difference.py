"""What changed between two configurations, field by field, for people to read."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, cast

import orjson

from holdfast.sessions.confighash import Config, canonical

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_SHOWN_MAX = 60
_ABSENT = object()


@dataclass(frozen=True, slots=True)
class ConfigChange:
    """One field that differs; text for both sides, and nothing for a side that lacks it."""

    path: str
    old: str | None
    new: str | None

    def __str__(self) -> str:
        if self.old is None:
            return f"{self.path}: added {self.new}"
        if self.new is None:
            return f"{self.path}: removed {self.old}"
        return f"{self.path}: {self.old} → {self.new}"


def config_difference(old: Config, new: Config) -> tuple[ConfigChange, ...]:
    """Every field that differs, by its path; empty if the two are the same configuration.

    Lists are compared by place, lists of objects with distinct `id` by that. Lists of texts, such
    as the lines of a plan, are aligned: a line more does not make all lines after it different.

    Raises:
        ConfigError: one of them holds what JSON cannot.
    """
    return tuple(_compare("", canonical(old), canonical(new)))


def _compare(path: str, old: object, new: object) -> Iterator[ConfigChange]:
    if _is_texts(old) and _is_texts(new):
        yield from _compare_texts(path, cast("list[str]", old), cast("list[str]", new))
        return
    before, after = _children(old), _children(new)
    if before is None or after is None or isinstance(old, list) != isinstance(new, list):
        # `1`, `1.0` and `true` are equal in Python, and not in JSON.
        if type(old) is not type(new) or old != new:
            yield _change(path, old, new)
        return
    for name in dict.fromkeys((*before, *after)):
        inner = f"{path}{name}" if name.startswith("[") else f"{path}.{name}".removeprefix(".")
        yield from _compare(inner, before.get(name, _ABSENT), after.get(name, _ABSENT))


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _compare_texts(path: str, old: list[str], new: list[str]) -> Iterator[ConfigChange]:
    """Lines that were changed, added or removed, by their place in the list that has them."""
    aligned = SequenceMatcher(None, old, new, autojunk=False)
    for same, old_start, old_end, new_start, new_end in aligned.get_opcodes():
        if same == "equal":
            continue
        pairs = zip_longest(old[old_start:old_end], new[new_start:new_end], fillvalue=_ABSENT)
        for offset, (before, after) in enumerate(pairs):
            place = (new_start if before is _ABSENT else old_start) + offset
            yield _change(f"{path}[{place}]", before, after)


def _children(value: object) -> Mapping[str, Any] | None:
    """The parts of a value by name; nothing for one that has no parts."""
    if isinstance(value, dict):
        return value
    if not isinstance(value, list):
        return None
    names = [item.get("id") if isinstance(item, dict) else None for item in value]
    if all(isinstance(name, str) for name in names) and len(set(names)) == len(names):
        return {f"[{name}]": item for name, item in zip(names, value, strict=True)}
    return {f"[{place}]": item for place, item in enumerate(value)}


def _change(path: str, old: object, new: object) -> ConfigChange:
    before, after = _text(old), _text(new)
    start = 0
    if before is not None and after is not None:
        start = max(0, _first_difference(before, after) - _SHOWN_MAX // 3)
    return ConfigChange(path, _excerpt(before, start), _excerpt(after, start))


def _text(value: object) -> str | None:
    return None if value is _ABSENT else orjson.dumps(value).decode()


def _first_difference(one: Sequence[str], other: Sequence[str]) -> int:
    pairs = zip(one, other, strict=False)
    same = (place for place, (left, right) in enumerate(pairs) if left != right)
    return next(same, min(len(one), len(other)))


def _excerpt(text: str | None, start: int) -> str | None:
    """The part of a long text where it starts to differ."""
    if text is None or len(text) <= _SHOWN_MAX:
        return text
    end = start + _SHOWN_MAX
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"
