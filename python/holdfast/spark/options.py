"""The settings of Spark's configuration: `spark.holdfast.*`, each known, typed and documented."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from holdfast.errors import ConfigError
from holdfast.manifest.fields import I64_MAX
from holdfast.settings import (
    GATE_SECONDS_MAX,
    GATE_SETTING,
    KIB,
    MIB,
    PRESIGN_SECONDS_MAX,
    ChainSettings,
    RetrySettings,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Checksum: TypeAlias = Literal["crc32", "sha256"]
PREFIX = "spark.holdfast."
STORE = f"{PREFIX}store"
_STORE_NAME = re.compile(r"[a-z0-9-]+")
_BYTES = re.compile(r"(\d+)\s*([kmgt]?)(?:i?b)?", flags=re.IGNORECASE)
_UNITS = {"": 1, "k": KIB, "m": MIB, "g": 1024 * MIB, "t": 1024 * 1024 * MIB}
_WORDS = {"true": True, "false": False}
_CHECKSUMS: dict[str, Checksum] = {"crc32": "crc32", "sha256": "sha256"}


def parse_bytes(text: str) -> int:
    """A size as Spark writes them: `65536`, `64k`, `1m`, `2g`."""
    found = _BYTES.fullmatch(text.strip())
    if found is None:
        raise ValueError(text)
    return int(found[1]) * _UNITS[found[2].lower()]


def parse_bool(text: str) -> bool:
    return _WORDS[text.strip().lower()]


def parse_checksum(text: str) -> Checksum:
    return _CHECKSUMS[text.strip().lower()]


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """One setting: its name after `spark.holdfast.`, its default as text, and what it does."""

    name: str
    default: str
    parse: Callable[[str], Any]
    meaning: str
    low: int = 0
    high: int = I64_MAX


KEYS = (
    Key(
        name="retain",
        default="100",
        parse=int,
        meaning="checkpoints that are kept, besides tags and clones",
        low=1,
    ),
    Key(
        name="fullEvery",
        default="64",
        parse=int,
        meaning="every how many checkpoints one lists all files; a start reads at most so many",
        low=1,
    ),
    Key(
        name="inlineBytes",
        default="64k",
        parse=parse_bytes,
        meaning="up to this packed size a batch's files ride in its manifest",
    ),
    Key(
        name="hintEvery",
        default="10",
        parse=int,
        meaning="every how many checkpoints `latest.json` is written; 0 for never",
    ),
    Key(
        name="largeFileBytes",
        default="1m",
        parse=parse_bytes,
        meaning="above this size a file goes to the store by itself, not through the driver",
    ),
    Key(
        name="ticketSeconds",
        default="300",
        parse=int,
        meaning="how long a signed upload or download of a large file may begin",
        low=1,
        high=PRESIGN_SECONDS_MAX,
    ),
    Key(
        name="prefetchBytes",
        default="256m",
        parse=parse_bytes,
        meaning="how much a start fetches ahead of the tasks that will read it",
    ),
    Key(
        name="validate",
        default="false",
        parse=parse_bool,
        meaning="whether a start reads and hashes every object of the checkpoint it goes on from",
    ),
    Key(
        name="verifyReads",
        default="crc32",
        parse=parse_checksum,
        meaning="checksum that a task compares when it reads a large file: `crc32` finds damage, "
        "`sha256` also finds an object that was replaced, and costs more CPU",
    ),
    Key(
        name=GATE_SETTING.removeprefix(PREFIX),
        default="60",
        parse=int,
        meaning="seconds for which an unavailable store is retried: in all by one gate (a batch's "
        "plan or its commit) or one claim, and by each other request; then the query stops",
        low=1,
        high=GATE_SECONDS_MAX,
    ),
    Key(
        name="spool.dir",
        default="",
        parse=str,
        meaning="where small files wait on the driver's disk; the system's temporary directory",
    ),
    Key(
        name="spool.maxBytes",
        default="1g",
        parse=parse_bytes,
        meaning="how big a query's spool may get",
    ),
)
_BY_NAME = {key.name: key for key in KEYS}


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What a driver was told; `stores` are URLs by name, the default one's being empty."""

    stores: Mapping[str, str] = field(default_factory=dict)
    chain: ChainSettings = field(default_factory=ChainSettings)
    retry: RetrySettings = field(default_factory=RetrySettings)
    large_file_bytes: int = MIB
    ticket_seconds: int = 300
    prefetch_bytes: int = 256 * MIB
    validate: bool = False
    verify_reads: Checksum = "crc32"
    spool_dir: str = ""
    spool_bytes_max: int = 1024 * MIB

    def url(self, name: str) -> str:
        """The URL of a store.

        Raises:
            ConfigError: no store of this name is set.
        """
        if name in self.stores:
            return self.stores[name]
        key = f"{STORE}.{name}" if name else STORE
        raise ConfigError(
            "no store is set for this checkpoint location",
            hint=f'add .config("{key}", "s3://bucket/prefix"), or store="…" to holdfast.session',
            setting=key,
            location=f"holdfast://{name}/…",
        )


def parse_options(conf: Mapping[str, str]) -> Options:
    """The settings among a Spark configuration.

    Raises:
        ConfigError: a key that is not known, with the nearest known one, or a value that is wrong.
    """
    stores: dict[str, str] = {}
    given: dict[str, Any] = {key.name: _value(key, key.default) for key in KEYS}
    for full, text in conf.items():
        if not full.startswith(PREFIX):
            continue
        name = full.removeprefix(PREFIX)
        if name == "store" or name.startswith("store."):
            stores[_store_name(full, name)] = text
        elif name in _BY_NAME:
            given[name] = _value(_BY_NAME[name], text)
        else:
            raise _unknown(full)
    seconds = float(given[GATE_SETTING.removeprefix(PREFIX)])
    return Options(
        stores=stores,
        chain=ChainSettings(
            retain=given["retain"],
            full_every=given["fullEvery"],
            inline_bytes_max=given["inlineBytes"],
            hint_every=given["hintEvery"],
            gate_seconds=seconds,
        ),
        retry=RetrySettings(seconds=seconds),
        large_file_bytes=given["largeFileBytes"],
        ticket_seconds=given["ticketSeconds"],
        prefetch_bytes=given["prefetchBytes"],
        validate=given["validate"],
        verify_reads=given["verifyReads"],
        spool_dir=given["spool.dir"],
        spool_bytes_max=given["spool.maxBytes"],
    )


def _store_name(full: str, name: str) -> str:
    store = name.removeprefix("store").removeprefix(".")
    if store and not _STORE_NAME.fullmatch(store):
        raise ConfigError(
            "a store's name is lowercase letters, digits and dashes",
            hint="it is the host of holdfast://name/query",
            setting=full,
        )
    return store


def _value(key: Key, text: str) -> object:
    try:
        value = key.parse(text)
    except (ValueError, KeyError) as error:
        raise _wrong(key, text) from error
    if type(value) is int and not key.low <= value <= key.high:
        raise _wrong(key, text, allowed=f"{key.low} to {key.high}")
    return value


def _wrong(key: Key, text: str, **context: str) -> ConfigError:
    return ConfigError(
        "a setting has a value that it cannot take",
        hint=f"the default is {key.default or 'empty'}; {key.meaning}",
        setting=f"{PREFIX}{key.name}",
        value=text,
        **context,
    )


def _unknown(full: str) -> ConfigError:
    known = [STORE, *(f"{PREFIX}{key.name}" for key in KEYS)]
    near = difflib.get_close_matches(full, known, n=1, cutoff=0.0)
    return ConfigError("no such setting", hint=f"did you mean {near[0]}?", setting=full)
