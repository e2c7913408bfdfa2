"""One checkpoint of a chain: by number, by tag, or the one that a start would take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.chain.read import Reader
from holdfast.chain.refs import find_tag, read_ref
from holdfast.cli.need import checkpoint_or_tag, need_checkpoint
from holdfast.errors import CorruptionError, NotFoundError

if TYPE_CHECKING:
    from holdfast.chain import Chain, Head, Recovery, Ref
    from holdfast.manifest.record import ChainManifest


@dataclass(frozen=True, slots=True, kw_only=True)
class Picked:
    """A checkpoint: its manifest, its state, and what was passed over to find it.

    `recovery` is there where a start would take this one.
    """

    entry: ChainManifest
    head: Head
    tag: str = ""
    newer: tuple[tuple[int, str], ...] = ()
    recovery: Recovery | None = None

    @property
    def target(self) -> int | str:
        """How the chain's own methods are told of it."""
        return self.tag or self.head.number


def pick(chain: Chain, text: str) -> Picked:
    """The checkpoint that this means; nothing means the newest valid one.

    Raises:
        NotFoundError: there is none of this number or name.
        CorruptionError: it cannot be read.
    """
    if not text:
        return _newest_valid(chain)
    target = checkpoint_or_tag(text)
    if isinstance(target, str):
        return _tagged(chain, target)
    need_checkpoint(chain, target)
    reader = Reader(chain.context)
    return Picked(head=reader.head(target), entry=reader.manifest(target))


def _newest_valid(chain: Chain) -> Picked:
    recovery = chain.recover()
    number = recovery.head.number
    if not number:
        raise NotFoundError("this query has no checkpoint yet", query=chain.context.query)
    return Picked(
        head=recovery.head,
        entry=Reader(chain.context).manifest(number),
        newer=recovery.report.skipped,
        recovery=recovery,
    )


def _tagged(chain: Chain, name: str) -> Picked:
    """A tag's own manifest tells who tagged; the checkpoint's, while it is there, who wrote."""
    ref = read_tag(chain, name)
    head = ref.head()
    try:
        original = Reader(chain.context).manifest(head.number)
    except CorruptionError:
        original = ref.entry
    entry = original if original.sha256 == head.sha256 else ref.entry
    return Picked(head=head, entry=entry, tag=name)


def read_tag(chain: Chain, name: str) -> Ref:
    """A tag by its name.

    Raises:
        NotFoundError: there is none.
        CorruptionError: it cannot be read.
    """
    return read_ref(chain.context, find_tag(chain.context, name))
