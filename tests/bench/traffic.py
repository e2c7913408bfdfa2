"""What a store was asked for, by its own account: MinIO's metrics, as a price list sees them."""

from __future__ import annotations

import re
import time
import urllib.request
from collections import Counter
from dataclasses import dataclass, field

from holdfast.objectstore import S3_STANDARD
from holdfast.objectstore.metered import VERBS, PriceTable, Verb

_METRICS = "/minio/v2/metrics/bucket"
_LINE = re.compile(
    r"minio_bucket_(requests_total|traffic_\w+_bytes)"
    r'\{(?:api="(\w+)",)?bucket="([^"]+)"[^}]*\} (\S+)'
)
_REFRESH_S = 11  # MinIO answers from a cache that is ten seconds old at most
_SETTLE_S = 0.5
BATCHES_PER_MONTH = 30 * 24 * 3600 // 10  # a trigger every 10 s


@dataclass(frozen=True, kw_only=True)
class Traffic:
    """Requests by verb and bytes; two of them subtract, and a number divides."""

    requests: dict[Verb, float] = field(default_factory=lambda: dict.fromkeys(VERBS, 0.0))
    bytes_in: float = 0.0
    bytes_out: float = 0.0

    @property
    def total(self) -> float:
        return sum(self.requests.values())

    def __sub__(self, other: Traffic) -> Traffic:
        return Traffic(
            requests={verb: self.requests[verb] - other.requests[verb] for verb in VERBS},
            bytes_in=self.bytes_in - other.bytes_in,
            bytes_out=self.bytes_out - other.bytes_out,
        )

    def __truediv__(self, count: int) -> Traffic:
        return Traffic(
            requests={verb: self.requests[verb] / count for verb in VERBS},
            bytes_in=self.bytes_in / count,
            bytes_out=self.bytes_out / count,
        )

    def usd_per_month(self, table: PriceTable = S3_STANDARD) -> float:
        """Where this is what one batch takes."""
        each = sum(self.requests[verb] * table.per_thousand[verb] for verb in VERBS) / 1000
        return each * BATCHES_PER_MONTH


class Account:
    """Reads the metrics of one server, never from its cache; one bucket is one contender's."""

    def __init__(self, endpoint: str) -> None:
        self._url = endpoint + _METRICS
        self._read_at = -float(_REFRESH_S)

    def read(self, bucket: str) -> Traffic:
        """Everything that was done in this bucket since the server started."""
        time.sleep(max(_SETTLE_S, self._read_at + _REFRESH_S - time.monotonic()))
        with urllib.request.urlopen(self._url, timeout=30) as answer:
            text = answer.read().decode()
        self._read_at = time.monotonic()
        return parse(text, bucket)


def parse(text: str, bucket: str) -> Traffic:
    """Read the metrics of one bucket that count."""
    requests: Counter[Verb] = Counter()
    traffic = {"traffic_received_bytes": 0.0, "traffic_sent_bytes": 0.0}
    for line in text.splitlines():
        found = _LINE.fullmatch(line)
        if found is None or found[3] != bucket:
            continue
        kind, api, _, value = found.groups()
        if kind == "requests_total":
            requests[verb_of(api)] += int(float(value))
        elif kind in traffic:
            traffic[kind] += float(value)
    return Traffic(
        requests={verb: float(requests[verb]) for verb in VERBS},
        bytes_in=traffic["traffic_received_bytes"],
        bytes_out=traffic["traffic_sent_bytes"],
    )


def verb_of(api: str) -> Verb:
    """What a request is billed as; parts, copies and multipart calls are billed as PUTs."""
    if api.startswith(("delete", "abort")):
        return "delete"
    if api.startswith("list"):
        return "list"
    if api.startswith("head"):
        return "head"
    return "get" if api.startswith("get") else "put"
