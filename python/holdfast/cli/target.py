"""Addresses: which store and which query a command is about.

A target is a URL of a store, or of a query below it. Walking up from the whole path, the nearest
level that holds a certificate is the store, and the rest is the query. Without any certificate
the path itself may be a query or a plain checkpoint store; else it is a store.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

from holdfast.chain import Chain
from holdfast.checkpoint import CheckpointStore, catalog
from holdfast.checkpoint.guard import refuse_chain
from holdfast.cli.readonly import ReadOnlyStore
from holdfast.errors import ConfigError, CorruptionError, MisuseError, PermissionDeniedError
from holdfast.ids import Writer
from holdfast.layout import Keys, escape_name, query_path
from holdfast.manifest.fields import parse_object
from holdfast.objectstore import ObjectStore, open_store
from holdfast.settings import CERTIFICATE_KEY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.report.documents import Format

STORE_VARIABLE = "HOLDFAST_STORE"

_SCHEMES = ("file:", "memory:", "s3:")
_MANIFESTS_ASKED_MAX = 5
_NO_STORE = f'write "s3://bucket/prefix" or "file:///path", or set {STORE_VARIABLE}'


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A store, and a query in it unless `query` is empty; `prefix` is where the query's keys are.

    `format` is `none` for a query of which there is nothing.
    """

    store: ObjectStore
    query: str = ""
    prefix: str = ""
    format: Format = "none"

    @property
    def keys(self) -> Keys:
        return Keys(self.prefix)

    def chain(self, command: str) -> Chain:
        """Its chain; whoever is fenced by it reads which command did it."""
        return Chain(self.store, self.query, writer=Writer.here(f"holdfast {command}"))

    def checkpoints(self) -> CheckpointStore:
        return CheckpointStore(self.store, self.prefix)

    def read_only(self) -> tuple[Target, ReadOnlyStore]:
        """The same target, where nothing can be changed, and the store that sees to it."""
        store = ReadOnlyStore(self.store)
        return (
            Target(store=store, query=self.query, prefix=self.prefix, format=self.format),
            store,
        )


def resolve(text: str, environ: Mapping[str, str] = os.environ) -> Target:
    """The store and query that this text means.

    Raises:
        ConfigError: it is no target, or a bare name and there is no default store.
        StoreError, UnavailableError: the store said no, or nothing.
    """
    text = text.strip()
    default = environ.get(STORE_VARIABLE, "").strip()
    if text.startswith("holdfast:"):
        text = _spark_location(text)
    if text.startswith(("/", *_SCHEMES)) or "://" in text:
        return _by_url(text)
    if not default:
        what = "no store is given" if not text else "this is a query's name, and no store is given"
        raise ConfigError(what, hint=_NO_STORE, **({"target": text} if text else {}))
    return _below(open_store(default), unquote(text))


def _spark_location(text: str) -> str:
    """The query of a `checkpointLocation`, which people have at hand."""
    parts = urlsplit(text)
    if parts.netloc:
        raise ConfigError(
            "which store this name means is only known to the Spark job",
            hint=f"give the store's URL, or set {STORE_VARIABLE} to it and write the query's name",
            store=parts.netloc,
        )
    return parts.path.strip("/")


def _by_url(url: str) -> Target:
    store = open_store(url)  # which refuses what is no URL, before anything is taken apart
    parts = urlsplit(url)
    segments = [segment for segment in parts.path.split("/") if segment]
    if _is_certified(store):
        return Target(store=store)
    for depth in range(1, _depth_max(parts, segments) + 1):
        above = _above(parts, segments, depth)
        try:
            found = _is_certified(above)
        except PermissionDeniedError:
            break  # one may not look up there, nor above it
        if found:
            return _below(above, unquote("/".join(segments[-depth:])))
    return _uncertified(store, parts, segments)


def _depth_max(parts: SplitResult, segments: list[str]) -> int:
    """How many levels there are above; the root of a disk is no store."""
    return len(segments) if parts.scheme == "s3" else max(0, len(segments) - 1)


def _above(parts: SplitResult, segments: list[str], depth: int) -> ObjectStore:
    path = "/" + "/".join(segments[: len(segments) - depth])
    return open_store(urlunsplit(parts._replace(path=path)))


def _is_certified(store: ObjectStore) -> bool:
    # Listed and not fetched: where listing is allowed for a prefix only, S3 answers a request for
    # an object that is not there as if it were forbidden.
    return any(meta.key == CERTIFICATE_KEY for meta in store.list(CERTIFICATE_KEY, limit=1).objects)


def _below(store: ObjectStore, name: str) -> Target:
    """A query of a known store; a plain checkpoint store may have a prefix that is not escaped."""
    name = name.strip("/")
    if not name:
        return Target(store=store)
    prefixes = dict.fromkeys((f"{query_path(name)}/", f"{name}/"))
    for prefix in prefixes:
        found = format_of(store, Keys(prefix))
        if found != "none":
            return Target(store=store, query=name, prefix=prefix, format=found)
    return Target(store=store, query=name, prefix=next(iter(prefixes)))


def format_of(store: ObjectStore, keys: Keys) -> Format:
    """What lives under these keys: a chain, checkpoints without one, or nothing."""
    try:
        refuse_chain(store, keys)
    except MisuseError:
        return "chain"
    newest = catalog.newest_id(store, keys)
    if newest is None:
        return "none"
    return "flat" if newest in catalog.list_v1_ids(store, keys) else "plain"


def _uncertified(store: ObjectStore, parts: SplitResult, segments: list[str]) -> Target:
    found = format_of(store, Keys(""))
    decoded = [unquote(segment) for segment in segments]
    last = decoded[-1] if decoded else ""
    if found == "chain":
        return _chain_at(store, parts, segments, decoded)
    if found != "none":
        return Target(store=store, query=last or store.url, format=found)
    if last and escape_name(last) != last and _depth_max(parts, segments):
        below = _below(_above(parts, segments, 1), last)
        if below.format != "none":
            return below
    return Target(store=store)


def _chain_at(
    store: ObjectStore, parts: SplitResult, segments: list[str], decoded: list[str]
) -> Target:
    """A chain's keys are relative to its store, so its own name tells how far up that is."""
    name = _name_in_manifests(store)
    path = query_path(name).split("/") if name else []
    if not path or decoded[-len(path) :] != path:
        path, name = decoded[-1:], decoded[-1] if decoded else ""
    if not 0 < len(path) <= _depth_max(parts, segments):
        raise ConfigError(
            "a chain lives at the very top of this store, where no query can have a name",
            store=store.url,
        )
    above = _above(parts, segments, len(path))
    return Target(store=above, query=name, prefix=f"{'/'.join(path)}/", format="chain")


def _name_in_manifests(store: ObjectStore) -> str:
    """The query that the newest readable manifest names; nothing if none can be read."""
    keys = Keys("")
    newest = catalog.list_ids(store, keys)[-_MANIFESTS_ASKED_MAX:]
    for number in reversed(newest):
        blob = catalog.find(store, keys.manifest(number))
        try:
            if blob is not None:
                return parse_object(blob.body, "manifest").object("holdfast").text("query")
        except CorruptionError:
            continue
    return ""
