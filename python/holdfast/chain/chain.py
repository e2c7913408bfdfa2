"""One query's chain, for those who use it: every step of the protocol under one name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.chain.begin import is_unused
from holdfast.chain.claim import claim
from holdfast.chain.clone import Rewrite, clone
from holdfast.chain.contents import read_files
from holdfast.chain.context import Context
from holdfast.chain.history import Checkpoint, Validation, history, validate
from holdfast.chain.objects import fetch
from holdfast.chain.read import list_manifests
from holdfast.chain.recover import Recovery, recover
from holdfast.chain.refs import Ref, read_refs, tag, untag
from holdfast.chain.remove import remove
from holdfast.chain.retain import Retainer, RetentionReport
from holdfast.chain.rollback import RolledBack, reset, rollback
from holdfast.clock import SYSTEM_CLOCK, Clock
from holdfast.ids import Nonces, Writer, random_nonce
from holdfast.settings import ChainSettings
from holdfast.sparkfiles.identity import Clone as SparkClone

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from holdfast.chain.head import Head
    from holdfast.chain.writer import ChainWriter, Committed
    from holdfast.manifest.files import ObjectRef
    from holdfast.objectstore import ObjectStore


class Chain:
    """The numbered checkpoints of one query on one store; making one sends nothing.

    Each method's errors are those of the function of its name.
    """

    def __init__(
        self,
        store: ObjectStore,
        query: str,
        *,
        settings: ChainSettings | None = None,
        clock: Clock = SYSTEM_CLOCK,
        nonces: Nonces = random_nonce,
        writer: Writer | None = None,
    ) -> None:
        self.context = Context(
            store=store,
            query=query,
            settings=settings or ChainSettings(),
            clock=clock,
            nonces=nonces,
            writer=writer or Writer.here(),
        )

    def recover(self, *, deep: bool = False) -> Recovery:
        """Find the newest valid checkpoint; only reads."""
        return recover(self.context, deep=deep)

    def claim(
        self,
        *,
        deep: bool = False,
        on_fresh: Callable[[], None] | None = None,
        verify: Callable[[Head], None] | None = None,
    ) -> ChainWriter:
        """Take the chain over; earlier writers are fenced.

        `on_fresh` is called before the first record of a new chain is written, and may refuse it.
        `verify` is called with the head that the claim continues from, before anything is written:
        a `CorruptionError` skips that head, any other error ends the claim.
        Both `verify` and `deep`, which hashes every object, take as long as the state is large:
        that time is not part of the claim's deadline.
        """
        hashed = [recover(self.context, deep=True, verify=verify)] if deep else []

        def read(context: Context) -> Recovery:
            timed = None if verify is None else context.off_the_clock(verify)
            found = hashed.pop() if hashed else recover(context, deep=deep, verify=timed)
            if on_fresh is not None and found.head.is_unused:
                on_fresh()
            return found

        return claim(self.context, read=read)

    def read(self, head: Head, paths: Collection[str] | None = None) -> dict[str, bytes]:
        """Bytes of the files that a head shows."""
        return read_files(self.context, head, paths)

    def read_object(self, ref: ObjectRef) -> bytes:
        """A whole pack or large file, checked against its hash."""
        return fetch(self.context, ref)

    def exists(self) -> bool:
        """Whether there is a query of this name that was not removed; only reads."""
        return not is_unused(self.context, list_manifests(self.context).highest)

    def has_newer(self, number: int) -> bool:
        """Whether there is a checkpoint after this one; one list request."""
        return bool(list_manifests(self.context, above=number).numbers)

    def rollback(self, target: int | str) -> RolledBack:
        """Go back to a checkpoint's number or a tag's name."""
        return rollback(self.context, target)

    def reset(
        self, tag_name: str, *, unless: Callable[[Head], bool] = lambda _: False
    ) -> Committed | None:
        """Begin anew; the old state stays under this tag."""
        return reset(self.context, tag_name, unless=unless)

    def tag(self, name: str, target: int | str) -> Ref:
        """Protect a checkpoint under a name."""
        return tag(self.context, name, target)

    def untag(self, name: str) -> None:
        """Stop protecting it."""
        roots = untag(self.context, name)
        Retainer(self.context).release(roots)

    def refs(self) -> list[Ref]:
        """All tags and clones."""
        return read_refs(self.context)

    def clone(self, target: int | str, to: str, *, rewrite: Rewrite | None = None) -> Chain:
        """Begin another query with this one's state, copying nothing.

        Without a `rewrite` the clone gets what a Spark query must have of its own.
        """
        own = rewrite or SparkClone(to, self.context.nonces)
        context = clone(self.context, target, to, rewrite=own)
        return Chain(
            context.store,
            to,
            settings=context.settings,
            clock=context.clock,
            nonces=context.nonces,
            writer=context.writer,
        )

    def retain(self, keep: int, *, dry_run: bool = False) -> RetentionReport:
        """Delete what the newest `keep` valid checkpoints, tags and clones do not reach."""
        return Retainer(self.context).run(keep, dry_run=dry_run)

    def sweep(self, *, dry_run: bool = False) -> RetentionReport:
        """Delete only what no checkpoint at all names: what crashes left behind."""
        return Retainer(self.context).run(None, dry_run=dry_run)

    def history(self, *, newest: int | None = None) -> list[Checkpoint]:
        """Every manifest that is there, or so many of the newest, in order."""
        return history(self.context, newest=newest)

    def validate(self, number: int, *, deep: bool = True) -> Validation:
        """Whether one checkpoint is whole, and if not, why."""
        return validate(self.context, number, deep=deep)

    def remove(self, *, purge: bool = False) -> int:
        """Delete the query."""
        return remove(self.context, purge=purge)
