"""Files as a manifest lists them: columns of paths, sizes, times and where the bytes are.

Columns and not rows, because a full manifest lists every live file and is read at each start:
whole columns are read and checked without a Python statement per file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from holdfast.errors import ConfigError, CorruptionError
from holdfast.manifest.fields import I64_MAX, U32_MAX, Fields

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

ObjectKind: TypeAlias = Literal["inline", "pack", "file"]
_KINDS: tuple[ObjectKind, ...] = ("inline", "pack", "file")
_NO_BYTES = -1
_SHA256 = re.compile(r"[0-9a-f]{64}")
_CONTROLS = bytes((*range(0x20), 0x7F))
# An empty or dot segment, or a control character; a directory's path ends with one "/".
_BAD_PATH = re.compile(r"(?:^|/)(?:\.{1,2}(?:/|\Z)|/)|\A\Z|[\x00-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class ObjectRef:
    """Where bytes are: inside a manifest or plan, in a pack object, or an object of their own.

    A key is relative to the chain's root; one that starts with "/" to the store's (clones).
    `number` is that of the manifest which carries an inline pack; it is known, not stored.
    `crc32` is a second, cheaper check of a large file, and no part of what it is.
    """

    kind: ObjectKind
    key: str = ""
    size: int = 0
    sha256: str = ""
    number: int = 0
    crc32: int | None = field(default=None, compare=False)


class FileEntry(NamedTuple):
    """One live file; a directory's path ends with "/", and what has no bytes has no object."""

    path: str
    size: int
    mtime_ms: int
    ref: ObjectRef | None


@dataclass(frozen=True, slots=True)
class FileTable:
    """Many files, column by column; iterating gives them one by one."""

    paths: Sequence[str] = ()
    sizes: Sequence[int] = ()
    mtimes_ms: Sequence[int] = ()
    refs: Sequence[ObjectRef | None] = ()

    @classmethod
    def of(cls, entries: Iterable[FileEntry]) -> FileTable:
        columns = list(zip(*entries, strict=True))
        return cls(*columns) if columns else cls()

    def __iter__(self) -> Iterator[FileEntry]:
        return map(FileEntry, self.paths, self.sizes, self.mtimes_ms, self.refs)

    def __len__(self) -> int:
        return len(self.paths)

    def to_json(self) -> dict[str, Any]:
        """The columns; objects are named by their index in a table of their own."""
        distinct = {id(ref): ref for ref in self.refs}
        unique = [ref for ref in dict.fromkeys(distinct.values()) if ref is not None]
        index = {ref: position for position, ref in enumerate(unique)}
        index_of = {
            address: _NO_BYTES if ref is None else index[ref] for address, ref in distinct.items()
        }
        return {
            "objects": [ref_to_json(ref) for ref in unique],
            "paths": self.paths,
            "sizes": self.sizes,
            "mtimes_ms": self.mtimes_ms,
            "object": list(map(index_of.__getitem__, map(id, self.refs))),
        }

    @classmethod
    def from_json(cls, fields: Fields, *, number: int, has_pack: bool) -> FileTable:
        """Read the columns; inline bytes are in the pack of the manifest with this number.

        Raises:
            CorruptionError: inline bytes without a pack, columns of different lengths, a path
                twice or one that a manifest may not hold, a value out of range.
        """
        objects = [ref_from_json(item, number) for item in fields.array("objects")]
        if not has_pack and any(ref.kind == "inline" for ref in objects):
            raise CorruptionError("files are listed whose bytes are not there", number=number)
        table: list[ObjectRef | None] = [*objects, None]  # index -1 names the last
        paths: list[str] = fields.array("paths", of=str, missing_ok=False)
        sizes = _column(fields, "sizes", 0, I64_MAX)
        mtimes = _column(fields, "mtimes_ms", 0, I64_MAX)
        indexes = _column(fields, "object", _NO_BYTES, len(objects) - 1)
        if not len(paths) == len(sizes) == len(mtimes) == len(indexes):
            raise CorruptionError("a manifest's file columns differ in length", paths=len(paths))
        if len(set(paths)) != len(paths):
            raise CorruptionError("a manifest lists a path twice", paths=len(paths))
        _require_paths(paths)
        return cls(paths, sizes, mtimes, list(map(table.__getitem__, indexes)))


def checked_path(path: str) -> str:
    """The path itself, if it is one that a manifest may hold.

    Raises:
        ConfigError: empty, absolute, not normal, or with a control character.
    """
    if _BAD_PATH.search(path):
        raise ConfigError("a file needs a relative path", path=ascii(path[:80]))
    return path


def _require_paths(paths: list[str]) -> None:
    """What `checked_path` says of each, in a few looks at all of them."""
    lines = "\n".join(("", *paths, ""))
    steps = lines.replace("/\n", "\n").replace("\n", "/")
    if (
        lines.count("\n") == len(paths) + 1
        and _has_no_control(steps)
        and not any(bad in steps for bad in ("//", "/./", "/../"))
    ):
        return
    for path in paths:  # a rare character may be a good one
        if _BAD_PATH.search(path):
            raise CorruptionError("a manifest lists a path that is none", path=ascii(path[:80]))


def _has_no_control(text: str) -> bool:
    if text.isascii():
        return len(text.encode().translate(None, _CONTROLS)) == len(text)
    return text.isprintable()


def _column(fields: Fields, name: str, low: int, high: int) -> list[int]:
    values: list[int] = fields.array(name, of=int, missing_ok=False)
    if values and not (low <= min(values) and max(values) <= high):
        raise fields.wrong(name, f"integers from {low} to {high}", (min(values), max(values)))
    return values


def ref_to_json(ref: ObjectRef) -> dict[str, Any]:
    """An object as JSON; that of an inline one needs the number beside it."""
    if ref.kind == "inline":
        return {"kind": ref.kind}
    stored = {"kind": ref.kind, "key": ref.key, "size": ref.size, "sha256": ref.sha256}
    return stored if ref.crc32 is None else {**stored, "crc32": ref.crc32}


def ref_from_json(value: object, number: int) -> ObjectRef:
    """What `ref_to_json` wrote; inline bytes belong to the manifest with this number."""
    fields = Fields(value, "object")
    kind = fields.text("kind")
    if kind not in _KINDS:
        raise fields.wrong("kind", "inline, pack or file", kind)
    if kind == "inline":
        return ObjectRef(kind, number=number)
    key, sha256 = fields.text("key"), fields.text("sha256")
    if _BAD_PATH.search(key.removeprefix("/")):
        raise fields.wrong("key", "a relative key", key)
    if not _SHA256.fullmatch(sha256):
        raise fields.wrong("sha256", "64 hexadecimal digits", sha256)
    crc32 = fields.optional_integer("crc32", high=U32_MAX)
    return ObjectRef(kind, key, fields.integer("size"), sha256, crc32=crc32)
