"""Every number that a user or a test may want to change, with its unit in its name."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from holdfast.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

KIB = 1024
MIB = 1024 * KIB
GIB = 1024 * MIB
U64_MAX = 2**64 - 1

KEY_BYTES_MAX = 1024
LIST_PAGE_MAX = 1000
DOCUMENT_BYTES_MAX = 256 * MIB  # what is read whole without its size being known beforehand
PUT_BYTES_MAX = 5 * 1024 * MIB  # S3 takes no more in one put
OBJECT_BYTES_MAX = 1024 * PUT_BYTES_MAX  # and no larger object
GATE_SETTING = "spark.holdfast.gate.seconds"
GATE_SECONDS_MAX = 24 * 3600
CERTIFICATE_KEY = ".holdfast/certificate.json"
BATCH_FLUSH_BYTES = 8 * MIB
PRESIGN_SECONDS_MAX = 7 * 24 * 3600  # S3 signs for no longer


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrySettings:
    """How long, and how far apart, a request to an unavailable store is tried again.

    A request is retried until `seconds` have passed, unless it belongs to a gate or a claim,
    which has one deadline for all its requests (`ChainSettings.gate_seconds`). Each wait is
    random between zero and a ceiling that doubles from `first_delay_s` to `delay_max_s`: about
    120 requests in ten minutes of an unavailable store. `attempts_max` ends the retries earlier.
    """

    seconds: float = 60.0
    first_delay_s: float = 0.1
    delay_max_s: float = 10.0
    attempts_max: int | None = None

    def __post_init__(self) -> None:
        if self.attempts_max is not None and self.attempts_max < 1:
            raise ConfigError(
                "a request needs at least one attempt", attempts_max=self.attempts_max
            )
        if not 0 < self.seconds < float("inf"):
            raise ConfigError("retries need a bounded time", seconds=self.seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class S3Settings:
    """What can be said of an S3 endpoint beyond bucket and prefix.

    Credentials come from boto3's own chain; `access_key` and `secret_key` are only for a URL that
    carries them, and are never shown.
    """

    endpoint_url: str | None = None
    region: str | None = None
    profile: str | None = None
    path_style: bool | None = None
    server_side_encryption: str | None = None
    kms_key_id: str | None = None
    put_headers: Mapping[str, str] = field(default_factory=dict)
    connect_timeout_s: float = 5.0
    read_timeout_s: float = 30.0
    connections_max: int = 32
    access_key: str | None = field(default=None, repr=False)
    secret_key: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainSettings:
    """How one query's chain is written and kept.

    `gate_seconds` is the deadline of each gate (an intent or a commit) and of each claim. An
    unavailable store is retried until then; no gate lasts longer than this and the five seconds
    in which the outcome of its last write may still be read back.
    """

    gate_seconds: float = 60.0
    retain: int = 100
    full_every: int = 64
    inline_bytes_max: int = 64 * KIB
    hint_every: int = 10
    claim_attempts_max: int = 8
    relist_max: int = 5
    parallel: int = 16

    def __post_init__(self) -> None:
        for name in ("retain", "full_every", "claim_attempts_max", "relist_max", "parallel"):
            if getattr(self, name) < 1:
                raise ConfigError("must be at least 1", setting=name, value=getattr(self, name))
        if not 0 < self.gate_seconds < float("inf"):
            raise ConfigError("a gate needs a bounded time", gate_seconds=self.gate_seconds)
