"""What changed in a query's tree since the last record, as the JVM tells it.

One line for each change, in order, tab-separated: see `Journal.java`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.chain import NewFile
from holdfast.errors import BridgeError
from holdfast.manifest import ObjectRef
from holdfast.manifest.fields import U32_MAX

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.spark.spool import SpoolDirectory


@dataclass(frozen=True, slots=True)
class Spooled:
    """A small file: its bytes are in a segment."""

    modified_ms: int
    size: int
    segment: str
    offset: int

    def new_file(self, path: str, spool: SpoolDirectory) -> NewFile:
        body = spool.read(self.segment, self.offset, self.size) if self.size else b""
        return NewFile(path=path, mtime_ms=self.modified_ms, body=body)


@dataclass(frozen=True, slots=True)
class Uploaded:
    """A large file: it is an object already. `moved`: a record may name that by now."""

    modified_ms: int
    size: int
    sha256: str
    crc32: int
    key: str
    moved: bool = False

    def new_file(self, path: str, spool: SpoolDirectory) -> NewFile:
        del spool
        ref = ObjectRef("file", self.key, self.size, self.sha256, crc32=self.crc32)
        return NewFile(path=path, mtime_ms=self.modified_ms, uploaded=ref)


@dataclass(frozen=True, slots=True)
class Directory:
    """A directory; its path ends with "/"."""

    modified_ms: int

    def new_file(self, path: str, spool: SpoolDirectory) -> NewFile:
        del spool
        return NewFile(path=path, mtime_ms=self.modified_ms)


def _crc32(text: str) -> int:
    value = int(text)
    if not 0 <= value <= U32_MAX:
        raise ValueError(text)
    return value


class Pending:
    """Files that wait for a record, and files that are gone since the last one."""

    def __init__(self) -> None:
        self.files: dict[str, Spooled | Uploaded | Directory] = {}
        self.removed: set[str] = set()
        self._left: set[str] = set()
        self.loads = 0
        self.load_ms = 0

    def tell(self, journal: str) -> None:
        """Take in what the JVM tells.

        Raises:
            BridgeError: it is not a journal.
        """
        for line in journal.split("\n"):
            if line:
                self._apply(line.split("\t"))

    def take(self, wanted: Callable[[str], bool], spool: SpoolDirectory) -> list[NewFile]:
        """The files with these paths, with their bytes; they wait no more."""
        paths = [path for path in self.files if wanted(path)]
        taken = [self.files[path].new_file(path, spool) for path in paths]
        for path in paths:
            del self.files[path]
        self._left -= {file.uploaded.key for file in taken if file.uploaded is not None}
        return taken

    def take_left(self) -> set[str]:
        """Objects that were uploaded and that no record names; none will once no file waits."""
        left, self._left = self._left, set()
        return left

    def _apply(self, fields: list[str]) -> None:
        try:
            self._change(fields)
        except ValueError as error:
            raise BridgeError("the JVM told a number that is none", line=fields) from error

    def _change(self, fields: list[str]) -> None:
        match fields:
            case ["f", path, modified, size, segment, offset]:
                self._add(path, Spooled(int(modified), int(size), segment, int(offset)))
            case ["o" | "m" as kind, path, modified, size, sha256, crc32, key]:
                told = (int(modified), int(size), sha256, _crc32(crc32), key)
                self._add(path, Uploaded(*told, moved=kind == "m"))
            case ["g", key]:
                self._left.add(key)
            case ["d", path, modified]:
                self._add(f"{path}/", Directory(int(modified)))
            case ["x", path]:
                self._drop(path)
                self.removed.add(path)
            case ["l", _path, _version, milliseconds]:
                self.loads += 1
                self.load_ms += int(milliseconds)
            case _:
                raise BridgeError("the JVM told what this version does not know", line=fields)

    def _add(self, path: str, file: Spooled | Uploaded | Directory) -> None:
        self._drop(path)
        self.files[path] = file
        self.removed.discard(path)

    def _drop(self, path: str) -> None:
        """No record names the object of a file that waits, unless it was moved here.

        It may have been moved from here: then another file waits that names it.
        """
        dropped = self.files.pop(path, None)
        if isinstance(dropped, Uploaded) and not dropped.moved:
            self._left.add(dropped.key)
