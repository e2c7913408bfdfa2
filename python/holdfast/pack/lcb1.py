"""The LCB1 format: a header, a CRC32C, and one LZ4 block of (key, data) entries.

    offset  0  magic b"LCB1"
            4  version: 2 is written, 1 (no CRC, header of 16 bytes) is read
            8  number of entries
           12  bytes of the uncompressed body
           16  CRC32C of everything after the header (version 2)
           20  bytes of the uncompressed body again, then the LZ4 block, which for a body
               that does not compress is one run of literals

All integers are little-endian and unsigned, of 32 bits. The body is, per entry: length of the
key, key in UTF-8, length of the data, data.

Failure: whatever is wrong with the bytes is a `CorruptionError`. Before anything is allocated,
each size is checked against what the object itself could hold and against a hard limit, so a lie
costs no more memory than an honest object of the same length could.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, TypeVar

import google_crc32c
import lz4.block

from holdfast.errors import ConfigError, CorruptionError
from holdfast.settings import KIB, MIB

if TYPE_CHECKING:
    from collections.abc import Iterable

    from typing_extensions import Buffer

Slices = TypeVar("Slices", bytes, memoryview)

MAGIC = b"LCB1"
BODY_BYTES_MAX = 1024 * MIB
# A few compressed bytes can stand for a great many empty entries, each a Python object.
ENTRIES_MAX = 1 << 20

_VERSION = 2
_VERSION_WITHOUT_CRC = 1
_HEADER = struct.Struct("<4sIIII")
_HEADER_V1 = struct.Struct("<4sIII")
_U32 = struct.Struct("<I")
_ENTRY_OVERHEAD = 2 * _U32.size
# An LZ4 length byte stands for at most 255 bytes of output.
_EXPANSION_MAX = 255
_CRC_STEP = 64 * KIB
_TOKEN_LITERALS_MAX = 15
_NOISE_BYTES_MIN = 64 * KIB
_NOISE_RATIO = 0.98
_SAMPLES = 16
_SAMPLE_BYTES = 4 * KIB


def encode_batch(entries: Iterable[tuple[str, Buffer]]) -> bytes:
    """One LCB1 object, version 2; the same entries always give the same bytes.

    Raises:
        ConfigError: more than 1 GiB or 2^20 entries, or a key that is not valid Unicode.
    """
    parts: list[Buffer] = []
    count = size = 0
    for key, data in entries:
        name, view = _key_bytes(key), memoryview(data)
        parts += (_U32.pack(len(name)), name, _U32.pack(view.nbytes), view)
        count += 1
        size += _ENTRY_OVERHEAD + len(name) + view.nbytes
        if size > BODY_BYTES_MAX or count > ENTRIES_MAX:
            raise ConfigError(
                "a pack holds at most 1 GiB in 2^20 entries",
                hint="store large files as objects of their own, and more files in more packs",
            )
    if _looks_like_noise(parts, size):
        parts[:0] = (_U32.pack(size), _literal_prefix(size))
    else:
        body = b"".join(parts)
        parts.clear()
        parts.append(lz4.block.compress(body, store_size=True))
    crc = 0
    for part in parts:
        crc = google_crc32c.extend(crc, part if isinstance(part, bytes) else bytes(part))
    return b"".join((_HEADER.pack(MAGIC, _VERSION, count, size, crc), *parts))


def _looks_like_noise(parts: list[Buffer], size: int) -> bool:
    """Whether a sample does not get smaller, as files that Spark compressed already.

    Such a body is written as literals, which is a valid LZ4 block that any reader takes and
    which costs one copy instead of three.
    """
    if size < _NOISE_BYTES_MIN:
        return False
    data = parts[3::4]
    step = max(1, len(data) // _SAMPLES)
    sample = b"".join(memoryview(view)[:_SAMPLE_BYTES] for view in data[::step][:_SAMPLES])
    return len(lz4.block.compress(sample, store_size=False)) > _NOISE_RATIO * len(sample)


def _literal_prefix(size: int) -> bytes:
    """What an LZ4 block begins with that is one run of `size` literals and nothing else."""
    if size < _TOKEN_LITERALS_MAX:
        return bytes([size << 4])
    full, rest = divmod(size - _TOKEN_LITERALS_MAX, 255)
    return b"\xf0" + b"\xff" * full + bytes([rest])


def _key_bytes(key: str) -> bytes:
    try:
        return key.encode()
    except UnicodeEncodeError as error:
        raise ConfigError("a pack's key is not valid Unicode", key=ascii(key[:80])) from error


def decode_batch(data: Buffer) -> list[tuple[str, bytes]]:
    """All (key, data) entries in their order, duplicates included.

    Raises:
        CorruptionError: not an LCB1 object, or damaged.
    """
    count, body = _open(memoryview(data).cast("B"))
    return _entries(body, count)


def decode_views(data: Buffer) -> list[tuple[str, memoryview]]:
    """Like `decode_batch` without a copy per entry; any view keeps the whole body in memory.

    Raises:
        CorruptionError: not an LCB1 object, or damaged.
    """
    count, body = _open(memoryview(data).cast("B"))
    return _entries(memoryview(body), count)


def decode_some(
    data: Buffer, keys: Iterable[str], what: str, **details: str | int
) -> dict[str, memoryview]:
    """The entries with these keys, without a copy; `what` and `details` are for the error.

    Raises:
        CorruptionError: as `decode_views`, or one of them is not there.
    """
    wanted = set(keys)
    found = {key: body for key, body in decode_views(data) if key in wanted}
    if len(found) < len(wanted):
        missing = min(wanted - found.keys())
        raise CorruptionError(f"{what} lacks a file's bytes", hint="", path=missing, **details)
    return found


def _entries(body: Slices, count: int) -> list[tuple[str, Slices]]:
    """Cut the body up; a slice is of the same type as the body."""
    entries: list[tuple[str, Slices]] = []
    # This loop runs per file of a checkpoint: no call in it that is not needed.
    length_at, end = _U32.unpack_from, 0
    try:
        for _ in range(count):
            start = end + 4
            middle = start + length_at(body, end)[0]
            key = str(body[start:middle], "utf-8")
            start = middle + 4
            end = start + length_at(body, middle)[0]
            entries.append((key, body[start:end]))
    except struct.error as error:
        raise CorruptionError("a pack ends inside an entry", entry=len(entries)) from error
    except UnicodeDecodeError as error:
        raise CorruptionError("a pack's key is not UTF-8", entry=len(entries)) from error
    if end != len(body):
        raise CorruptionError("a pack's entries do not fill its body", size=len(body), end=end)
    return entries


def _open(view: memoryview) -> tuple[int, bytes]:
    """Number of entries and the body, each plausible for this object."""
    if len(view) < _HEADER.size:
        raise CorruptionError("a pack is too short for its header", size=len(view))
    magic, version, count, size = _HEADER_V1.unpack_from(view)
    if magic != MAGIC:
        raise CorruptionError("not a pack: bad magic", magic=bytes(magic).hex())
    if version == _VERSION:
        rest = view[_HEADER.size :]
        _check_crc(rest, *_U32.unpack_from(view, _HEADER_V1.size))
    elif version == _VERSION_WITHOUT_CRC:
        rest = view[_HEADER_V1.size :]
    else:
        raise CorruptionError(
            "a pack of an unknown version", hint="install a newer holdfast", version=version
        )
    if len(rest) < _U32.size or _U32.unpack_from(rest)[0] != size:
        raise CorruptionError("a pack contradicts itself about its size", size=size)
    block = rest[_U32.size :]
    if size > min(BODY_BYTES_MAX, _EXPANSION_MAX * len(block)):
        raise CorruptionError("a pack claims an impossible size", size=size, block=len(block))
    if count > min(ENTRIES_MAX, size // _ENTRY_OVERHEAD):
        raise CorruptionError("a pack claims an impossible number of entries", count=count)
    return count, _decompress(block, size)


def _check_crc(rest: memoryview, expected: int) -> None:
    actual = 0
    for start in range(0, len(rest), _CRC_STEP):
        # The library takes nothing but bytes; a copy of one step stays in the processor's cache.
        actual = google_crc32c.extend(actual, bytes(rest[start : start + _CRC_STEP]))
    if actual != expected:
        raise CorruptionError(
            "a pack's CRC32C differs", expected=f"{expected:08x}", actual=f"{actual:08x}"
        )


def _decompress(block: memoryview, size: int) -> bytes:
    prefix = _literal_prefix(size)
    if len(block) == len(prefix) + size and block[: len(prefix)] == prefix:
        return bytes(block[len(prefix) :])
    try:
        body: bytes = lz4.block.decompress(block, uncompressed_size=size)
    except (lz4.block.LZ4BlockError, ValueError, MemoryError) as error:
        raise CorruptionError("a pack does not decompress", reason=error) from error
    if len(body) != size:
        raise CorruptionError("a pack is shorter than it claims", size=len(body), claimed=size)
    return body
