"""The store in a local directory: every put is whole, durable and atomic between processes.

A body is written to a temporary file and fsynced, then linked (create) or renamed (overwrite,
if-match) onto its name, and the directory is fsynced.
Link fails if the name exists, which makes create-only atomic without a lock; changes to an
existing object hold an advisory file lock, which the kernel drops with a killed process.

Failure: killed before the link or rename → the object is unchanged and a temporary file stays,
removed by a later open once it is a day old. Killed after it → the object is there.
A full disk or a read-only directory is a `StoreError`, and nothing changed. A disk that does not
confirm the new name is a `CommitUnknownError`: the object is there, and may be lost with the power,
so reading it back proves nothing.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import secrets
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from holdfast.clock import SYSTEM_CLOCK, Clock
from holdfast.errors import (
    AlreadyExistsError,
    CommitUnknownError,
    ConfigError,
    DeleteError,
    NotFoundError,
    PermissionDeniedError,
    PreconditionError,
    StoreError,
    UnsupportedError,
)
from holdfast.objectstore.base import (
    Blob,
    Body,
    ObjectMeta,
    Page,
    Presigned,
    PutMode,
    check_document_size,
    check_key,
    may_begin_key,
)
from holdfast.settings import LIST_PAGE_MAX

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_PRIVATE = ".holdfast-local"
_TEMPORARY_AGE_MAX_S = 24 * 3600
_PUT_ATTEMPTS_MAX = 8


class LocalStore:
    """Objects as files below one directory; keys are relative paths.

    One key cannot be a directory of another: `a` and `a/b` do not live together here.
    """

    can_presign = False

    def __init__(self, root: str | Path, *, clock: Clock = SYSTEM_CLOCK) -> None:
        self._root = Path(root).absolute()
        if self._root.exists() and not self._root.is_dir():
            raise ConfigError(
                "the store's path is a file, not a directory",
                hint="name a directory; it is made at the first write",
                path=self._root,
            )
        self._clock = clock
        self._settled: set[Path] = set()
        self._sweep_temporaries()

    @property
    def url(self) -> str:
        return self._root.as_uri()

    def reopen_url(self) -> str:
        """What another process on this machine opens to see the same objects."""
        return self.url

    @property
    def root(self) -> Path:
        return self._root

    def staging_path(self, name: str) -> Path:
        """Where another process on this machine may write a body before it links it to its key."""
        return self._root / _PRIVATE / "tmp" / name

    def place(self, key: str) -> Path:
        """Where such a process links it to: every directory above it is durable already."""
        target = self._path(key)
        with _translated(key):
            self._make_directory(target.parent)
        return target

    def put(self, key: str, body: Body, *, mode: PutMode = PutMode.OVERWRITE) -> ObjectMeta:
        target = self._path(key)
        with _translated(key), self._temporary(body) as temporary:
            meta = _meta(key, temporary.stat())  # the very file that becomes the object
            for _ in range(_PUT_ATTEMPTS_MAX):
                # A concurrent delete may take the emptied directory away under us: once more.
                with contextlib.suppress(FileNotFoundError):
                    self._make_directory(target.parent)
                    self._publish(temporary, target, key, mode)
                    break
            else:
                raise StoreError("the directory keeps vanishing under this put", key=key)
        _settle(target.parent)
        return meta

    def _publish(self, temporary: Path, target: Path, key: str, mode: PutMode) -> None:
        try:
            if mode.kind == "create":
                os.link(temporary, target)
                return
            with self._locked(key):
                if mode.kind == "if-match":
                    self._require(target, key, mode.etag)
                temporary.rename(target)
        except (NotADirectoryError, IsADirectoryError) as error:
            raise StoreError("a key cannot be the directory of another", key=key) from error
        except FileExistsError as error:
            if target.is_dir():
                raise StoreError("a key cannot be the directory of another", key=key) from error
            raise

    @staticmethod
    def _require(target: Path, key: str, etag: str) -> None:
        try:
            current = _etag(target.stat())
        except FileNotFoundError:
            current = ""
        if current != etag:
            raise PreconditionError("object is another version", key=key)

    def get(self, key: str, *, start: int = 0, length: int | None = None) -> Blob:
        with _translated(key), self._path(key).open("rb") as file:
            status = os.fstat(file.fileno())
            if stat.S_ISDIR(status.st_mode):
                raise FileNotFoundError(key)
            left = max(0, status.st_size - start)
            if length is None:
                check_document_size(key, left)
            file.seek(start)
            wanted = left if length is None else min(left, length)
            return Blob(body=file.read(wanted), meta=_meta(key, status))

    def head(self, key: str) -> ObjectMeta:
        with _translated(key):
            status = self._path(key).stat()
            if stat.S_ISDIR(status.st_mode):
                raise FileNotFoundError(key)
            return _meta(key, status)

    def list(self, prefix: str = "", *, start_after: str = "", limit: int = LIST_PAGE_MAX) -> Page:
        if not may_begin_key(prefix):
            return Page(objects=(), more=False)
        directory = prefix.rpartition("/")[0]
        with _translated(prefix):
            names = sorted(
                key
                for key in _walk(self._root, directory)
                if key > start_after and key.startswith(prefix)
            )
        found: list[ObjectMeta] = []
        for key in names:
            if len(found) == limit:
                return Page(objects=tuple(found), more=True)
            with contextlib.suppress(FileNotFoundError):  # deleted since the walk
                found.append(_meta(key, (self._root / key).stat()))
        return Page(objects=tuple(found), more=False)

    def delete(self, keys: Iterable[str]) -> None:
        failed: dict[str, str] = {}
        touched: set[Path] = set()
        for key in keys:
            path = self._path(key)
            try:
                with self._locked(key):
                    path.unlink()
                touched.add(path.parent)
            except (FileNotFoundError, NotADirectoryError):
                continue
            except OSError as error:
                failed[key] = error.strerror or str(error)
        for directory in touched:
            _settle(directory)
            self._drop_empty(directory)
        if failed:
            raise DeleteError(failed, hint="check the permissions of the store's directory")

    def presign(
        self, method: Literal["GET", "PUT"], key: str, *, expires_s: int = 300, sha256: str = ""
    ) -> Presigned:
        del method, expires_s, sha256
        raise UnsupportedError(
            "a local store cannot presign", hint="share the directory instead", key=key
        )

    def _path(self, key: str) -> Path:
        if check_key(key).split("/", 1)[0] == _PRIVATE:
            raise ConfigError("this name is reserved by the local store", key=key)
        return self._root / key

    @contextlib.contextmanager
    def _temporary(self, body: Body) -> Iterator[Path]:
        directory = self._root / _PRIVATE / "tmp"
        self._make_directory(directory)
        path = directory / f"{os.getpid()}-{secrets.token_hex(8)}"
        try:
            with path.open("xb") as file:
                file.write(body)
                file.flush()
                os.utime(file.fileno(), ns=self._stamp())
                os.fsync(file.fileno())
            yield path
        finally:
            with contextlib.suppress(OSError):  # left for a later open: the put itself is decided
                path.unlink(missing_ok=True)

    def _stamp(self) -> tuple[int, int]:
        """A modification time that no two versions share, exact to the millisecond.

        Kernels stamp files by a coarse tick and reuse inode numbers at once, so that without this
        two versions of an object could have the same etag.
        """
        nanoseconds = self._clock.now_ms() * 1_000_000 + secrets.randbelow(1_000_000)
        return nanoseconds, nanoseconds

    @contextlib.contextmanager
    def _locked(self, key: str) -> Iterator[None]:
        directory = self._root / _PRIVATE / "locks"
        self._make_directory(directory)
        name = hashlib.blake2b(key.encode(), digest_size=1).hexdigest()
        with (directory / name).open("ab") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def _make_directory(self, directory: Path) -> None:
        """Make a directory and its parents; each name is durable in its parent.

        Inside the store, one that is there was made by someone who may have been killed before
        that. What is above the store is the user's, and may not be readable.
        """
        inside = self._root in directory.parents
        if directory.is_dir() and (directory in self._settled or not inside):
            return
        self._make_directory(directory.parent)
        with contextlib.suppress(FileExistsError):
            directory.mkdir()
        _sync_directory(directory.parent)
        self._settled.add(directory)

    def _drop_empty(self, directory: Path) -> None:
        """Remove directories that a delete emptied; one that got a new file is left."""
        while directory != self._root:
            self._settled.discard(directory)
            try:
                directory.rmdir()
            except OSError:
                return
            directory = directory.parent

    def _sweep_temporaries(self) -> None:
        limit = self._clock.now_ms() / 1000 - _TEMPORARY_AGE_MAX_S
        with contextlib.suppress(OSError):  # whatever hinders the work will be told by a verb
            for path in (self._root / _PRIVATE / "tmp").iterdir():
                if path.stat().st_mtime < limit:
                    path.unlink(missing_ok=True)


def _etag(status: os.stat_result) -> str:
    return f"{status.st_ino:x}-{status.st_mtime_ns:x}-{status.st_size:x}"


def _meta(key: str, status: os.stat_result) -> ObjectMeta:
    return ObjectMeta(
        key=key,
        size=status.st_size,
        etag=_etag(status),
        modified_ms=status.st_mtime_ns // 1_000_000,
    )


def _walk(root: Path, directory: str) -> Iterator[str]:
    """Keys of all files below a directory, in no order."""
    try:
        entries = list(os.scandir(root / directory))
    except (FileNotFoundError, NotADirectoryError):
        return
    for entry in entries:
        key = f"{directory}/{entry.name}" if directory else entry.name
        if key == _PRIVATE:
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(root, key)
        else:
            yield key


def _sync_directory(directory: Path) -> None:
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _settle(directory: Path) -> None:
    """Make names that came or went durable; to readers the change has taken effect already."""
    try:
        _sync_directory(directory)
    except FileNotFoundError:
        return  # deleted since, with its directory
    except OSError as error:
        raise CommitUnknownError(
            "the change is made, but the disk does not confirm it",
            hint=_OS_HINTS.get(error.errno or 0, "check the disk before going on"),
            reason=error.strerror,
            path=directory,
        ) from error


@contextlib.contextmanager
def _translated(key: str) -> Iterator[None]:
    """Turn what the operating system says into the store's own errors."""
    try:
        yield
    except FileNotFoundError as error:
        raise NotFoundError("no such object", key=key) from error
    except FileExistsError as error:
        raise AlreadyExistsError("object exists", key=key) from error
    except PermissionError as error:
        raise PermissionDeniedError(
            "the operating system refuses access",
            hint="give this user read and write permission on the store's directory",
            path=error.filename,
        ) from error
    except (IsADirectoryError, NotADirectoryError) as error:
        raise NotFoundError("no such object", key=key) from error
    except OSError as error:
        raise StoreError(
            "the operating system refuses",
            hint=_OS_HINTS.get(error.errno or 0, ""),
            reason=error.strerror,
            path=error.filename,
        ) from error


_OS_HINTS = {
    errno.ENOSPC: "free some space on the store's disk; nothing was written",
    errno.EDQUOT: "the disk quota is used up; nothing was written",
    errno.EFBIG: "the object is over the limit of a file here; nothing was written",
    errno.EROFS: "the store's filesystem is mounted read-only",
    errno.ENAMETOOLONG: "use shorter names: a file name has at most 255 bytes",
    errno.EIO: "the disk reports an error; check it before going on",
}
