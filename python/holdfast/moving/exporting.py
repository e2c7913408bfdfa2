"""Export: the files of a checkpoint, as a directory from which Spark itself goes on.

Every pack and every large file is compared with its hash on the way. `commits/N` is the last file
to be written; what cannot be taken for a checkpoint before that is the destination's to say.

Failure: whatever goes wrong leaves no checkpoint at the destination. The chain is only read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.chain.objects import fetch, fetch_pieces
from holdfast.errors import CorruptionError, NotFoundError
from holdfast.objectstore.parallel import gather
from holdfast.pack import decode_some
from holdfast.sparkfiles.locations import as_spark_writes, holds_locations, relocated
from holdfast.sparkfiles.paths import METADATA, commits_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from holdfast.chain import Chain, Head
    from holdfast.chain.context import Context
    from holdfast.manifest.files import FileEntry, ObjectRef
    from holdfast.moving.destination import Destination

_OBJECTS_AT_ONCE = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """How much was written."""

    files: int
    size_bytes: int


def carry_out(
    chain: Chain,
    head: Head,
    destination: Destination,
    *,
    location: str,
    progress: Callable[[int], None] = lambda _: None,
) -> Exported:
    """Write the files that a start would show; `location` is what Spark will call the place.

    Raises:
        AlreadyExistsError: the destination is not empty.
        CorruptionError: an object is missing, or not what was written.
        ConfigError: the checkpoint is not one of a Spark query.
        UnavailableError, StoreError: a store, or the disk, said no.
    """
    files = files_of(head, chain.context.query)
    work = _Work(chain.context, head, destination, as_spark_writes(location), progress)
    destination.prepare()
    try:
        work.write(files)
        destination.finish()
    except BaseException:
        destination.abandon()
        raise
    return Exported(files=len(files), size_bytes=sum(file.size for file in files))


def files_of(head: Head, query: str) -> list[FileEntry]:
    """The files to write: what a start would show, but for directories.

    Raises:
        NotFoundError: no Spark query has written to this chain.
    """
    found = [file for path, file in head.visible().items() if not path.endswith("/")]
    if METADATA not in {file.path for file in found}:
        raise NotFoundError(
            "this checkpoint holds no files of a Spark query",
            hint="a query that was claimed and never ran has none yet",
            query=query,
            checkpoint=head.number,
        )
    return found


class _Work:
    """One export under way."""

    def __init__(
        self,
        context: Context,
        head: Head,
        destination: Destination,
        root: str,
        progress: Callable[[int], None],
    ) -> None:
        self._context = context
        self._destination = destination
        self._root = root
        self._progress = progress
        self._last = commits_path(head.batch)
        self._inline = head.carried()

    def write(self, files: list[FileEntry]) -> None:
        """All of them, an object at a time; the one that says "committed" after all others."""
        last = [file for file in files if file.path == self._last]
        others = [file for file in files if file.path != self._last]
        for some in (others, last):
            items = _by_object(some).items()
            gather(lambda item: self._object(*item), items, parallel=_OBJECTS_AT_ONCE)

    def _object(self, ref: ObjectRef | None, files: list[FileEntry]) -> None:
        """All files whose bytes are in one object, or inside manifests."""
        if ref is not None and ref.kind == "file":
            for file in files:
                self._one(file, self._checked(ref))
            return
        bodies = self._inline
        if ref is not None:
            paths = [file.path for file in files]
            bodies = {**decode_some(fetch(self._context, ref), paths, "a pack", key=ref.key)}
        for file in files:
            self._one(file, iter([b"" if file.ref is None else bytes(bodies[file.path])]))

    def _one(self, file: FileEntry, body: Iterator[bytes]) -> None:
        if holds_locations(file.path):
            body = iter([relocated(b"".join(body), lambda _: self._root)])
        self._destination.write(file, body)
        self._progress(file.size)

    def _checked(self, ref: ObjectRef) -> Iterator[bytes]:
        """A large file's bytes; after the last one it is known whether they were the right ones."""
        try:
            yield from fetch_pieces(self._context, ref)
        except NotFoundError as error:
            raise CorruptionError(
                "an object is missing",
                hint="was it retired meanwhile? tag the checkpoint, and export the tag",
                key=self._context.key_of(ref.key),
            ) from error


def _by_object(files: list[FileEntry]) -> dict[ObjectRef | None, list[FileEntry]]:
    """Files by the object that holds their bytes; nothing for those inside manifests."""
    found: dict[ObjectRef | None, list[FileEntry]] = {}
    for file in files:
        ref = file.ref if file.ref is not None and file.ref.kind != "inline" else None
        found.setdefault(ref, []).append(file)
    return found
