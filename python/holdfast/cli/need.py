"""What a command asks of its target, and the sentence for one that does not have it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.chain.begin import first_number
from holdfast.chain.read import list_manifests
from holdfast.cli.discover import roots
from holdfast.errors import AlreadyExistsError, ConfigError, MisuseError, NotFoundError
from holdfast.layout import query_of_path
from holdfast.objectstore import scan
from holdfast.objectstore.s3options import nearest
from holdfast.report.documents import address
from holdfast.settings import CERTIFICATE_KEY

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


def need_new(target: Target) -> Target:
    """The target, if it is the name of a query that is not there yet.

    Raises:
        ConfigError: it is a store, or it cannot be told where the store ends.
        AlreadyExistsError: there is such a query.
    """
    url = target.store.url
    if target.format == "chain":
        first_number(target.chain("import").context)  # which a removed query has, too
    elif target.format != "none":
        raise AlreadyExistsError(
            "a checkpoint store has this name", hint="choose another name", name=target.query or url
        )
    if target.query:
        return target
    if any(True for _ in scan(target.store, CERTIFICATE_KEY)):
        example = address(url, "orders")
        raise ConfigError("name the new query, too", hint=f"for instance {example}", store=url)
    place, mark, options = url.partition("?")
    above = f"{place.rpartition('/')[0]}{mark}{options}"
    raise ConfigError(
        "nothing tells where the store ends here and the query's name begins",
        hint=f"`holdfast certify '{above}'` makes that the store; "
        "or set HOLDFAST_STORE to the store and give the query's name alone",
        target=url,
    )


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
