"""The config hash: one number for what a query is, whatever order it was written down in.

FNV-1a with 64 bits over compact JSON with sorted keys, followed by one 0xFF byte. Lists keep their
order, for a pipeline's order is part of what it does; `QueryConfig` sorts those where it is not.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import orjson

from holdfast.errors import ConfigError

_OFFSET_BASIS = 0xCBF29CE484222325
_PRIME = 0x100000001B3
_MASK = 2**64 - 1
_OPTIONS = orjson.OPT_SORT_KEYS | orjson.OPT_PASSTHROUGH_DATACLASS


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceConfig:
    """What a query takes from one source; only the pipeline's order matters."""

    id: str
    nodes: tuple[str, ...] = ()
    relations: tuple[str, ...] = ()
    pipeline: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "nodes": sorted(set(self.nodes)),
            "relations": sorted(set(self.relations)),
            "pipeline": list(self.pipeline),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinConfig:
    """A join by (label, property) keys, in any order."""

    id: str
    keys: tuple[tuple[str, str], ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {"id": self.id, "keys": sorted(list(key) for key in self.keys)}


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryConfig:
    """A continuous query, and in `id` and `settings` how it is run, which is not hashed.

    `settings` is for starting by itself, bootstrap, queue sizes, the storage backend, the recovery
    policy: a change of those needs no fresh start. No joins (`None`) and an empty list differ.
    """

    query: str
    query_language: str = ""
    middleware: tuple[Mapping[str, Any], ...] = ()
    sources: tuple[SourceConfig, ...] = ()
    joins: tuple[JoinConfig, ...] | None = None
    id: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """What is hashed."""
        joins = None if self.joins is None else sorted(self.joins, key=lambda join: join.id)
        sources = sorted(self.sources, key=lambda source: source.id)
        return {
            "query": self.query,
            "query_language": self.query_language,
            "middleware": list(self.middleware),
            "sources": [source.to_json() for source in sources],
            "joins": None if joins is None else [join.to_json() for join in joins],
        }


Config: TypeAlias = QueryConfig | Mapping[str, Any]


def config_hash(config: Config) -> int:
    """The hash of a query's configuration, from 0 to 2^64-1; changes of key order do not count.

    Raises:
        ConfigError: it holds what JSON cannot.
    """
    return fnv1a(_dump(config) + b"\xff")


def canonical(config: Config) -> dict[str, Any]:
    """The configuration as it is hashed, stored and compared: plain JSON.

    Raises:
        ConfigError: it holds what JSON cannot.
    """
    plain: dict[str, Any] = orjson.loads(_dump(config))
    return plain


def fnv1a(data: bytes) -> int:
    """Fowler, Noll and Vo's hash, variant 1a, of 64 bits."""
    value = _OFFSET_BASIS
    for byte in data:
        value = (value ^ byte) * _PRIME & _MASK
    return value


def _dump(config: Config) -> bytes:
    plain = config.to_json() if isinstance(config, QueryConfig) else dict(config)
    try:
        data = orjson.dumps(plain, default=_as_dict, option=_OPTIONS)
    except TypeError as error:
        raise ConfigError("a configuration holds what JSON cannot", reason=error) from error
    _require_finite(plain)  # after the dump, which has refused cycles
    return data


def _as_dict(value: object) -> dict[str, Any]:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is not JSON")


def _require_finite(value: object) -> None:
    """JSON has no NaN and no infinity; written as `null` they would all be the same."""
    if isinstance(value, float) and not math.isfinite(value):
        raise ConfigError("a configuration holds a number that JSON cannot", value=value)
    if isinstance(value, Mapping):
        value = tuple(value.values())
    if isinstance(value, list | tuple):
        for item in value:
            _require_finite(item)
