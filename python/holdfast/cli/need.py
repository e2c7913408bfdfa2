"""What a command asks of its target, and the sentence for one that does not have it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.chain.read import list_manifests
from holdfast.cli.discover import roots
from holdfast.errors import ConfigError, MisuseError, NotFoundError
from holdfast.layout import query_of_path
from holdfast.objectstore.s3options import nearest
from holdfast.report.documents import address

if TYPE_CHECKING:
    from holdfast.chain import Chain
    from holdfast.cli.target import Target

_NAMED_MAX = 10


def need_query(target: Target, command: str) -> Target:
    """The target, if it is a query that is there.

    Raises:
        ConfigError: it is a store with queries, and none of them is named.
        NotFoundError: there is no such query, or nothing at all.
    """
    if target.format != "none":
        return target
    url = target.store.url
    known = [query_of_path(root) for root in roots(target.store) if root]
    if not known:
        raise NotFoundError("nothing is stored here", hint=_CHECK_URL, store=url)
    if not target.query:
        example = address(url, known[0])
        raise ConfigError("name a query", hint=f"for instance: holdfast {command} {example}")
    hint = nearest(target.query, known) if len(known) <= _NAMED_MAX else f"see holdfast ls {url}"
    raise NotFoundError("there is no such query", hint=hint, query=target.query, store=url)


def need_chain(target: Target, command: str) -> Target:
    """The target, if it is a chain.

    Raises:
        MisuseError: it is a plain checkpoint store, which knows no claims, tags or clones.
    """
    target = need_query(target, command)
    if target.format != "chain":
        raise MisuseError(
            f"{command} works on a query's chain, and this is a plain checkpoint store",
            hint="ls, show, validate, recover, prune and orphans work here",
            store=address(target.store.url, target.query) if target.prefix else target.store.url,
        )
    return target


def checkpoint_or_tag(text: str) -> int | str:
    """A number is a checkpoint's, anything else a tag's name."""
    return int(text) if text.isascii() and text.isdigit() else text


def need_checkpoint(chain: Chain, target: int | str) -> None:
    """Nothing, unless a number is asked for that is not there.

    Raises:
        NotFoundError: it is not, or not any more.
    """
    numbers = list_manifests(chain.context).numbers
    if isinstance(target, int) and target not in numbers:
        raise NotFoundError(
            "there is no such checkpoint",
            hint=f"there are {min(numbers)} to {max(numbers)}" if numbers else "there is none",
            query=chain.context.query,
            checkpoint=target,
        )


_CHECK_URL = "check the URL; a store has something in it once a query has started on it"
