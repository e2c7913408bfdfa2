"""The seam: five stateless, atomic verbs over keys and bytes, and presigning where a backend can.

Not a filesystem: no directories, no rename, no append, no handle to keep open.
Every backend passes `holdfast.testing.contract`, which says the same in code.

Failure: a verb that raises `UnavailableError` may have taken effect, and reading tells. After a
`CommitUnknownError` it has, but may not last. Any other error means that nothing changed.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal, Protocol, TypeAlias, runtime_checkable

from holdfast.errors import ConfigError, CorruptionError, UnavailableError
from holdfast.settings import DOCUMENT_BYTES_MAX, KEY_BYTES_MAX, LIST_PAGE_MAX, MIB

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from holdfast.clock import Deadline

Body: TypeAlias = bytes | bytearray | memoryview
PIECE_BYTES = 16 * MIB


@dataclass(frozen=True, slots=True)
class PutMode:
    """Under which condition a put may take effect."""

    kind: Literal["overwrite", "create", "if-match"]
    etag: str = ""

    OVERWRITE: ClassVar[PutMode]
    CREATE: ClassVar[PutMode]

    @staticmethod
    def if_match(etag: str) -> PutMode:
        """Only over the version that has this etag."""
        return PutMode("if-match", etag)


PutMode.OVERWRITE = PutMode("overwrite")
PutMode.CREATE = PutMode("create")


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectMeta:
    """One version of one object.

    `read_back` is true on the result of a put whose reply was lost: it is known to have taken
    effect only because it was read back, and time may have passed since.
    """

    key: str
    size: int
    etag: str
    modified_ms: int = field(default=0, compare=False)
    read_back: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Blob:
    """The bytes asked for, and the whole object's metadata."""

    body: bytes
    meta: ObjectMeta


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Objects in key order; `more` tells whether keys after the last one exist.

    An empty page has no more: a listing that is cut short must never pass for a whole one.
    """

    objects: tuple[ObjectMeta, ...]
    more: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Presigned:
    """One HTTP request that anyone who holds it may send until it expires."""

    method: Literal["GET", "PUT"]
    url: str = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    expires_at_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PartedUpload:
    """An upload in parts that was begun: one signed put for each, of the part with that hash."""

    key: str
    id: str
    sha256s: tuple[str, ...]
    parts: tuple[Presigned, ...] = field(repr=False)


class Parted(Protocol):
    """What a backend has as `parts` if it takes an object in parts, and must for the largest."""

    def begin(self, key: str, sha256s: Sequence[str], *, expires_s: int) -> PartedUpload:
        """Begin, and sign each part's put; costs one write request."""

    def renew(self, upload: PartedUpload, *, expires_s: int) -> PartedUpload:
        """Sign each part's put anew; what was sent stays sent. Costs nothing."""

    def finish(self, upload: PartedUpload, etags: Sequence[str]) -> None:
        """Make one object of what was sent; costs one write request. Done again, it stays done."""

    def abort(self, upload: PartedUpload) -> None:
        """Take back what was sent; nothing, where it was finished or taken back before."""


class ObjectStore(Protocol):
    """Any thread may call any verb at any time."""

    @property
    def url(self) -> str:
        """Where this is, for people: credentials are never in it."""

    @property
    def can_presign(self) -> bool:
        """Whether `presign` works here."""

    def put(self, key: str, body: Body, *, mode: PutMode = PutMode.OVERWRITE) -> ObjectMeta:
        """Write one whole object; readers see all of it or nothing. Costs one write request.

        Raises:
            AlreadyExistsError: the mode is CREATE and the key is taken.
            PreconditionError: the mode is if-match and the object is another version or absent.
        """

    def get(self, key: str, *, start: int = 0, length: int | None = None) -> Blob:
        """Read an object, or `length` bytes of it from `start` (fewer where it ends before).

        Without a length at most `DOCUMENT_BYTES_MAX` bytes are read: pass one for what is larger.

        Raises:
            NotFoundError: no such key.
            CorruptionError: no length is given, and the object is too large to be a document.
        """

    def head(self, key: str) -> ObjectMeta:
        """Size and etag without the bytes.

        Raises:
            NotFoundError: no such key.
        """

    def list(self, prefix: str = "", *, start_after: str = "", limit: int = LIST_PAGE_MAX) -> Page:
        """One page of the keys with this prefix that sort after `start_after`, as UTF-8 bytes.

        A key that was there before the call and is there after it is in the page it belongs to.
        Costs one list request, priced as a write.
        """

    def delete(self, keys: Iterable[str]) -> None:
        """Delete every key; one that is absent counts as deleted. Idempotent.

        Raises:
            DeleteError: some are still there, by name; all others are gone.
        """

    def presign(
        self, method: Literal["GET", "PUT"], key: str, *, expires_s: int = 300, sha256: str = ""
    ) -> Presigned:
        """Sign one request for exactly this key; nothing is sent.

        With the SHA-256 of a body, as hexadecimal digits, a put of any other body is refused.

        Raises:
            UnsupportedError: this backend cannot presign (`can_presign` is false).
        """


@runtime_checkable
class Reopenable(Protocol):
    """A store that another process can open."""

    def reopen_url(self) -> str:
        """The URL to open, with credentials if it has any of its own: never show it."""


def innermost(store: ObjectStore) -> ObjectStore:
    """The backend itself, without what is wrapped around it."""
    while True:
        inner = getattr(store, "inner", None)
        if inner is None:
            return store
        store = inner


def within(store: ObjectStore, deadline: Deadline) -> ObjectStore:
    """The same store, each request of which ends by this deadline, as far as the store can.

    A store that never waits (memory, a local disk) is given back as it is.
    """
    bind: Callable[[Deadline], ObjectStore] | None = getattr(store, "within", None)
    return store if bind is None else bind(deadline)


def parted_of(store: ObjectStore) -> Parted | None:
    """How this store takes an object in parts, if it does: as its outermost wrapper has it."""
    layer: ObjectStore | None = store
    while layer is not None:
        found: Parted | None = getattr(layer, "parts", None)
        if found is not None:
            return found
        layer = getattr(layer, "inner", None)
    return None


def pieces(store: ObjectStore, key: str, size: int) -> Iterator[bytes]:
    """An object's bytes in order, a range at a time."""
    for start in range(0, size, PIECE_BYTES):
        yield store.get(key, start=start, length=min(PIECE_BYTES, size - start)).body


def scan(store: ObjectStore, prefix: str = "", *, start_after: str = "") -> Iterator[ObjectMeta]:
    """All objects under a prefix in key order, page by page.

    Raises:
        UnavailableError: a page breaks the listing off.
    """
    while True:
        page = store.list(prefix, start_after=start_after)
        yield from page.objects
        if not page.more:
            return
        if not page.objects:
            raise UnavailableError("a page of a listing is empty, and more follow", prefix=prefix)
        start_after = page.objects[-1].key


def check_document_size(key: str, size: int) -> None:
    """Refuse to read an object into memory that is too large for what it should be.

    Raises:
        CorruptionError: it has more than `DOCUMENT_BYTES_MAX` bytes.
    """
    if size > DOCUMENT_BYTES_MAX:
        raise CorruptionError(
            "an object is too large to be what it should be",
            key=key,
            size=size,
            bytes_max=DOCUMENT_BYTES_MAX,
        )


def may_begin_key(prefix: str) -> bool:
    """Whether any key can begin with this: none has empty or dot segments or a NUL."""
    folders = prefix.split("/")[:-1]
    return "\0" not in prefix and not any(folder in ("", ".", "..") for folder in folders)


def check_key(key: str) -> str:
    """The key itself, if every backend can hold it.

    Raises:
        ConfigError: empty, over-long, with empty or dot segments, or with control characters.
    """
    if not key or len(key.encode()) > KEY_BYTES_MAX:
        raise ConfigError("a key has 1 to 1024 bytes", key=key[:80])
    if any(segment in ("", ".", "..") for segment in key.split("/")):
        raise ConfigError("a key has no empty, `.` or `..` segment", key=key)
    # Asking per character is slow, and nearly every key is plain.
    plain = key.isascii() and key.isprintable()
    if not plain and any(unicodedata.category(character) in ("Cc", "Cs") for character in key):
        raise ConfigError("a key has no control characters", key=ascii(key))
    return key
