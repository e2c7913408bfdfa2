"""Bodies for boto3: a large one that is not bytes, such as a mapped file, goes piece by piece."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from holdfast.settings import MIB

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from holdfast.objectstore.base import Body

_COPIED_BYTES_MAX = 8 * MIB


def sendable(body: Body) -> bytes | io.BufferedReader:
    """The body as boto3 takes it; what is large is never copied whole into memory."""
    if isinstance(body, bytes) or len(body) <= _COPIED_BYTES_MAX:
        return bytes(body)
    return io.BufferedReader(_Reader(memoryview(body)))


class _Reader(io.RawIOBase):
    """A file over bytes that are somewhere else."""

    def __init__(self, view: memoryview) -> None:
        self._view = view
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: len(self._view)}
        self._position = max(0, start[whence] + offset)
        return self._position

    def readinto(self, buffer: Buffer) -> int:
        target = memoryview(buffer)
        piece = self._view[self._position : self._position + len(target)]
        target[: len(piece)] = piece
        self._position += len(piece)
        return len(piece)
