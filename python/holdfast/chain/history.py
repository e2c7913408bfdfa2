"""Looking at a chain: every manifest in order, and whether one of them is whole."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from holdfast.chain.hint import read_hint
from holdfast.chain.objects import Presence, check_hashes, needed
from holdfast.chain.read import GoneError, Reader, fetch_intent, list_intents, list_manifests
from holdfast.chain.recover import missing_above
from holdfast.errors import ConfigError, CorruptionError
from holdfast.manifest.intent import IntentKind
from holdfast.objectstore.parallel import gather

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeAlias

    from holdfast.chain.context import Context
    from holdfast.chain.head import Head
    from holdfast.chain.refs import Ref
    from holdfast.ids import Writer
    from holdfast.manifest.files import ObjectRef
    from holdfast.manifest.intent import Intent
    from holdfast.manifest.record import ChainManifest

    Progress: TypeAlias = Callable[[int], None]


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


def history(context: Context, *, newest: int | None = None) -> list[Checkpoint]:
    """Every manifest that is there, or so many of the newest, tombstones left out."""
    numbers = list_manifests(context).numbers
    wanted = list(numbers.items())[-newest:] if newest else list(numbers.items())
    reader = Reader(context)
    reader.prefetch(number for number, _ in wanted)
    found: list[Checkpoint] = []
    for number, meta in wanted:
        try:
            found.append(Checkpoint(number=number, bytes=meta.size, entry=reader.manifest(number)))
        except GoneError:
            continue
        except CorruptionError as error:
            found.append(Checkpoint(number=number, bytes=meta.size, problem=str(error)))
    return found


def missing(context: Context) -> dict[int, str]:
    """Numbers above the newest manifest that had one once, and how that is known; only reads."""
    hint = read_hint(context)
    newest = list(islice(_planned(context), 1))
    highest = list_manifests(context).highest  # after the signs, or it could be too old for them
    return missing_above(highest, hint, newest)


def _planned(context: Context) -> Iterator[Intent]:
    """Intents whose writers had all manifests before them, the newest first."""
    for number in reversed(list_intents(context)):
        with suppress(CorruptionError):  # recovery reports it
            intent = fetch_intent(context, number)
            if intent is not None and intent.kind is not IntentKind.VOID:
                yield intent


def validate(
    context: Context,
    number: int,
    *,
    deep: bool = True,
    progress: Progress | None = None,
) -> Validation:
    """Check a checkpoint down to the hash of every object; content problems do not raise.

    Raises:
        UnavailableError, StoreError: the store said no, or nothing.
    """
    return Validator(context, deep=deep).check(number, progress)


class Validator:
    """Checks many checkpoints of one chain; what they share is read and hashed once."""

    def __init__(self, context: Context, *, deep: bool = True) -> None:
        self._context = context
        self._deep = deep
        self._reader = Reader(context)
        self._presence = Presence(context)
        self._hashed: dict[ObjectRef, CorruptionError | None] = {}

    def objects(self, number: int) -> list[ObjectRef]:
        """What a check of this number reads; nothing if its manifests cannot be read."""
        try:
            return needed(self._reader.head(number))
        except CorruptionError:
            return []

    def check(self, number: int, progress: Progress | None = None) -> Validation:
        """Whether a checkpoint is whole; `progress` is told of every byte that is hashed."""
        return self._judge(number, lambda: self._reader.head(number), progress, parent=True)

    def check_ref(self, ref: Ref, progress: Progress | None = None) -> Validation:
        """Whether what a tag or a clone protects is whole; it needs no manifest but itself."""
        return self._judge(ref.entry.number, ref.head, progress, parent=False)

    def _judge(
        self, number: int, find: Callable[[], Head], progress: Progress | None, *, parent: bool
    ) -> Validation:
        try:
            head = find()
            refs = needed(head)
            self._presence.check(refs)
            if self._deep:
                head.carried()
                self._check_hashes(refs, progress)
            if self._deep and parent:
                _check_parent(self._reader, number)
        except (CorruptionError, ConfigError) as error:
            return Validation(number=number, valid=False, issues=(str(error),))
        return Validation(number=number, valid=True, files=len(head.files), bytes=head.size_bytes)

    def _check_hashes(self, refs: list[ObjectRef], progress: Progress | None) -> None:
        def check(ref: ObjectRef) -> CorruptionError | None:
            try:
                check_hashes(self._context, [ref], progress=progress)
            except CorruptionError as error:
                return error
            return None

        fresh = [ref for ref in refs if ref not in self._hashed]
        found = gather(check, fresh, parallel=self._context.settings.parallel)
        self._hashed.update(zip(fresh, found, strict=True))
        for ref in refs:
            problem = self._hashed[ref]
            if problem is not None:
                raise problem


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
