"""Looking at a chain: every manifest in order, and whether one of them is whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.chain.objects import Presence, check_hashes, needed
from holdfast.chain.read import GoneError, Reader, list_manifests
from holdfast.errors import ConfigError, CorruptionError

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.chain.context import Context
    from holdfast.ids import Writer
    from holdfast.manifest.record import ChainManifest


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """One line of a chain's history; without an entry it cannot be read, and `problem` says why."""

    number: int
    bytes: int
    entry: ChainManifest | None = None
    problem: str = ""

    @property
    def writer(self) -> Writer | None:
        return self.entry.record.writer if self.entry else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Validation:
    """Whether a checkpoint is whole; `issues` say what is wrong."""

    number: int
    valid: bool
    issues: tuple[str, ...] = ()
    files: int = 0
    bytes: int = 0


def history(context: Context) -> list[Checkpoint]:
    """Every manifest that is there, tombstones left out."""
    listing = list_manifests(context)
    reader = Reader(context)
    reader.prefetch(listing.numbers)
    found: list[Checkpoint] = []
    for number, meta in listing.numbers.items():
        try:
            found.append(Checkpoint(number=number, bytes=meta.size, entry=reader.manifest(number)))
        except GoneError:
            continue
        except CorruptionError as error:
            found.append(Checkpoint(number=number, bytes=meta.size, problem=str(error)))
    return found


def validate(
    context: Context,
    number: int,
    *,
    deep: bool = True,
    progress: Callable[[int], None] | None = None,
) -> Validation:
    """Check a checkpoint down to the hash of every object; content problems do not raise.

    Raises:
        UnavailableError, StoreError: the store said no, or nothing.
    """
    reader = Reader(context)
    try:
        head = reader.head(number)
        refs = needed(head)
        Presence(context).check(refs)
        if deep:
            check_hashes(context, refs, progress=progress)
            _check_parent(reader, number)
    except (CorruptionError, ConfigError) as error:
        return Validation(number=number, valid=False, issues=(str(error),))
    return Validation(number=number, valid=True, files=len(head.files), bytes=head.size_bytes)


def _check_parent(reader: Reader, number: int) -> None:
    """A full manifest needs no parent, but if it is there, it must be the one that is named."""
    parent = reader.manifest(number).record.parent
    if parent is None or parent.query:
        return
    try:
        actual = reader.manifest(parent.number).sha256
    except CorruptionError:
        return  # retired, or damaged itself: that is the parent's own problem
    if actual != parent.sha256:
        raise CorruptionError("a manifest names another parent", number=number, of=parent.number)
