"""Checkpoints by number on any object store: manifest, optional sidecar, pointer.

Invariants: a manifest is created once, under its own number, after the sidecar that it names; a
sidecar is never overwritten; the pointer never moves back; no call takes what it cannot read for
the absence of a checkpoint.

Failure: killed after the sidecar → an orphan, which `cleanup_orphans` removes. Killed after the
manifest → the checkpoint is there, and `load_latest` finds it although the pointer lags. Killed
during a prune → see `pruning`. Whatever raised, the same call again is safe.
"""

from __future__ import annotations

import hashlib
import logging
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from holdfast.checkpoint import catalog
from holdfast.checkpoint.creation import Created, create_once
from holdfast.checkpoint.guard import WriteGuard
from holdfast.checkpoint.orphans import orphaned
from holdfast.checkpoint.pointer import (
    advance_pointer,
    latest_pointer,
    pruned_pointer,
    read_pointer,
)
from holdfast.checkpoint.pruning import PARALLEL, PruneReport, prune
from holdfast.checkpoint.recovery import RecoveryReport, recover
from holdfast.checkpoint.update import Versions, update
from holdfast.checkpoint.validation import ValidationResult, inspect, validate
from holdfast.clock import SYSTEM_CLOCK, Clock
from holdfast.errors import (
    AlreadyExistsError,
    ConfigError,
    CorruptionError,
    DeleteError,
    HoldfastError,
)
from holdfast.layout import Keys
from holdfast.objectstore import Body, ObjectStore, check_key
from holdfast.objectstore.parallel import gather

if TYPE_CHECKING:
    from holdfast.manifest import CheckpointManifest

ORPHAN_GRACE_S = 3600.0
_OLD_MS = 600_000

_LOG = logging.getLogger(__name__)
_Number = TypeVar("_Number", int, float)
_Ids: TypeAlias = list[int]
_Pairs: TypeAlias = list[tuple[int, int]]


class CheckpointStore:
    """The seed system's object-store checkpoint store, with its mistakes mended.

    Any thread may call any method. Two writers are told apart by the numbers they use: the second
    one to save a number gets an error. A chain's prefix can be read, and is refused for writing.
    """

    def __init__(
        self,
        store: ObjectStore,
        prefix: str = "",
        max_retained: int = 0,
        *,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        """Nothing is written yet; `max_retained` 0 means that `save` does not prune.

        Raises:
            ConfigError: a prefix that no store can hold, or `max_retained` below 0.
        """
        self._max_retained = _not_negative("max_retained", max_retained)
        self._store = store
        self._keys = Keys.under(prefix)
        check_key(self._keys.latest)
        self._clock = clock
        self._guard = WriteGuard(store, self._keys)
        self._versions = Versions()
        self._parents: dict[int, int | None] = {}
        self.last_prune = PruneReport()

    def save(self, manifest: CheckpointManifest) -> None:
        """Make the checkpoint exist, move the pointer to it, and prune if that is on.

        Saving the very same manifest again is success, and finishes what a killed save left. A
        prune that fails does not fail the save: it is logged, and `last_prune` has what is left.

        Raises:
            AlreadyExistsError: another manifest has this id, which is untouched, or the id was
                pruned. Load the latest and use a greater id, or stop if there should be no other
                writer.
            MisuseError: a chain lives under this prefix.
            UnavailableError: it may be saved; save the same again.
        """
        number, body = manifest.checkpoint_id, manifest.encode(pretty=True)
        self._guard.check(number)
        key = self._keys.manifest(number)
        created = create_once(self._store, key, body, lambda: _taken(number))
        if not created.found:
            self._refuse_pruned(number)
        self._versions.note(number, created.meta.etag)
        self._parents[number] = manifest.parent_id
        advance_pointer(self._store, latest_pointer(self._keys), number, self._newest)
        if self._max_retained:
            self._prune_after_save()

    def save_with_state(self, manifest: CheckpointManifest, state_data: Body | None) -> None:
        """Sidecar first, then a copy of the manifest that has the sidecar's checksum.

        Raises:
            AlreadyExistsError: as `save` and `save_state_data`; or an attempt that did not finish
                left the sidecar so long ago that a cleanup may be deleting it. Use a greater id.
        """
        if state_data is None:
            self.save(manifest)
            return
        digest, number = hashlib.sha256(state_data).hexdigest(), manifest.checkpoint_id
        state = self._put_state(number, state_data)
        is_old = state.found and state.meta.modified_ms < self._clock.now_ms() - _OLD_MS
        if is_old and self.load_by_id(number) is None:
            raise _state_taken(number)
        self.save(replace(manifest, state_checksum=digest))

    def save_state_data(self, checkpoint_id: int, data: Body) -> None:
        """Write the sidecar of an id, whose manifest may come later; the same bytes twice are fine.

        It is never overwritten: between looking for a manifest and writing, one could appear.

        Raises:
            AlreadyExistsError: this id has another sidecar, of another writer or of an attempt that
                did not finish. Use a greater id.
            MisuseError: a chain lives under this prefix.
        """
        self._put_state(checkpoint_id, data)

    def update_manifest(self, manifest: CheckpointManifest) -> None:
        """Replace the manifest of an existing checkpoint, for a change of its sinks' statuses.

        What the argument lacks of the stored manifest's checksum and unknown fields is kept, and
        what it was made from must not have changed: the version that this object last loaded or
        saved, or if it did neither, the one found now. The seed creates a manifest that is not
        there; here that is an error, because a prune may just have removed it.

        Raises:
            NotFoundError: there is no such checkpoint; save it.
            PreconditionError: someone else changed it; load it again, then apply the change.
            MisuseError: it is in the flat layout, or under a chain, or its parent would change.
            CorruptionError: the stored manifest cannot be read.
        """
        self._guard.check()
        update(self._store, self._keys, manifest, self._versions)

    def load_latest(self) -> CheckpointManifest | None:
        """The checkpoint with the highest id; nothing only if there is none at all.

        The listing decides, so a pointer that lags, dangles or is damaged changes nothing.

        Raises:
            CorruptionError: that manifest cannot be read; `recover_latest_validated` finds the
                newest one that can.
        """
        stored = catalog.load_newest(self._store, self._keys)
        return None if stored is None else self._noted(stored)

    def load_by_id(self, checkpoint_id: int) -> CheckpointManifest | None:
        """The checkpoint with this id, if there is one.

        Raises:
            CorruptionError: it cannot be read, or it is that of another id.
        """
        stored = catalog.load_manifest(self._store, self._keys, checkpoint_id)
        return None if stored is None else self._noted(stored)

    def list(self) -> _Pairs:
        """Id and epoch of every checkpoint that can be read, by id; `list_ids` has the others."""
        found = gather(self._id_and_epoch, self.list_ids(), parallel=PARALLEL)
        return [pair for pair in found if pair is not None]

    def list_ids(self) -> _Ids:
        """The ids of all checkpoints, readable or not, in ascending order."""
        return catalog.list_ids(self._store, self._keys)

    def load_state_data(self, checkpoint_id: int) -> bytes | None:
        """The sidecar of this id, if there is one; validation compares it with its checksum."""
        return catalog.load_state(self._store, self._keys, checkpoint_id)

    def validate_checkpoint(self, checkpoint_id: int) -> ValidationResult:
        """What is wrong with a checkpoint; content never raises.

        Raises:
            UnavailableError: the store does not answer, so nothing is known.
            PermissionDeniedError: the store refuses to be read, so nothing is known.
        """
        return validate(checkpoint_id, lambda number: inspect(self._store, self._keys, number))

    def recover_latest_validated(self) -> RecoveryReport:
        """The newest checkpoint that is valid, and why each newer one is not.

        Raises:
            CorruptionError: there are checkpoints, and none is valid.
            UnavailableError: the store does not answer.
        """
        return recover(self._store, self._keys, clock=self._clock)

    def prune(self, keep_count: int, *, dry_run: bool = False) -> int:
        """Remove all but the newest checkpoints, and return how many are gone, or would be.

        The latest, the newest valid one and the parents of what is kept stay, whatever the count:
        `last_prune` names them. Reads the newest checkpoint back, and each kept manifest once.
        With `dry_run` nothing is written.

        Raises:
            DeleteError: some objects are still there, by name; `last_prune` has what is gone.
            CorruptionError: no checkpoint is valid, so none is removed.
            MisuseError: a chain lives under this prefix.
        """
        self._guard.check()
        count = _not_negative("keep_count", keep_count)
        self.last_prune = PruneReport()
        self.last_prune = prune(self._store, self._keys, count, self._parents, dry_run=dry_run)
        if dry_run:
            return len(self.last_prune.removed)
        self._versions.forget(self.last_prune.removed)
        if self.last_prune.failed:
            raise DeleteError(self.last_prune.failed, hint="fix the reason, then prune again")
        return len(self.last_prune.removed)

    def cleanup_orphans(self, *, grace_s: float = ORPHAN_GRACE_S) -> int:
        """Delete sidecars of either layout that no manifest needs, and say how many are gone.

        Only those older than the grace period go: a younger one may belong to a save under way.

        Raises:
            DeleteError: some are still there, by name; all others are gone.
            MisuseError: a chain lives under this prefix.
        """
        self._guard.check()
        before_ms = self._clock.now_ms() - int(_not_negative("grace_s", grace_s) * 1000)
        keys = orphaned(self._store, self._keys, before_ms=before_ms)
        self._store.delete(keys)
        return len(keys)

    def _put_state(self, number: int, data: Body) -> Created:
        """Create the sidecar, or find it there."""
        self._guard.check(number)
        key = self._keys.state(number)
        return create_once(self._store, key, data, lambda: _state_taken(number))

    def _refuse_pruned(self, number: int) -> None:
        """A prune notes its ids before it deletes them, so an id that was free again is noted."""
        pruned, _ = read_pointer(self._store, pruned_pointer(self._keys))
        if pruned is not None and number <= pruned:
            self._store.delete([self._keys.manifest(number)])
            raise AlreadyExistsError(
                "this id was pruned",
                hint="load the latest and use a greater id; stop if no one else should write here",
                checkpoint_id=number,
                pruned=pruned,
            )

    def _newest(self) -> int | None:
        return max(self.list_ids(), default=None)

    def _noted(self, stored: catalog.StoredManifest) -> CheckpointManifest:
        self._versions.note(stored.manifest.checkpoint_id, stored.meta.etag)
        return stored.manifest

    def _id_and_epoch(self, number: int) -> tuple[int, int] | None:
        try:
            stored = catalog.load_manifest(self._store, self._keys, number)
        except CorruptionError:
            return None
        return None if stored is None else (number, stored.manifest.epoch)

    def _prune_after_save(self) -> None:
        try:
            self.prune(self._max_retained)
        except HoldfastError as error:
            _LOG.warning("prune after save failed: %s", error)


def _not_negative(name: str, value: _Number) -> _Number:
    if value < 0:
        raise ConfigError("must not be negative", setting=name, value=value)
    return value


def _taken(number: int) -> AlreadyExistsError:
    return AlreadyExistsError(
        "another manifest has this id",
        hint="load the latest and go on with a greater id; stop if no one else should write here",
        checkpoint_id=number,
    )


def _state_taken(number: int) -> AlreadyExistsError:
    return AlreadyExistsError(
        "another sidecar has this id",
        hint="use a greater id: another writer has this one, or an attempt that did not finish",
        checkpoint_id=number,
    )
