"""The verdict on a store: what was checked, how often, and what came of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from typing import Literal

import orjson

from holdfast.errors import UnsupportedError
from holdfast.version import VERSION

FORMAT = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One rule, how often it was tried, and what broke it, if anything did."""

    rule: str
    passed: bool
    count: int
    evidence: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """What `certify` found out about the store at this URL; it says nothing of a copy elsewhere."""

    verdict: Literal["certified", "refused"]
    store: str
    when_ms: int
    seconds: float
    threads: int
    processes: int
    checks: tuple[Check, ...]
    by: str = f"holdfast {VERSION}"

    @property
    def certified(self) -> bool:
        return self.verdict == "certified"

    def to_json(self) -> bytes:
        when = datetime.fromtimestamp(self.when_ms / 1000, tz=timezone.utc)
        named = {"format": FORMAT, "when": when.isoformat(timespec="seconds")}
        fields = {**named, **asdict(self)}
        return orjson.dumps(fields, option=orjson.OPT_INDENT_2)

    @staticmethod
    def from_json(data: bytes) -> Certificate | None:
        """The certificate in these bytes, or nothing if they hold none that we understand."""
        try:
            fields = orjson.loads(data)
            if fields.pop("format") != FORMAT:
                return None
            del fields["when"]
            checks = tuple(Check(**check) for check in fields.pop("checks"))
            found = Certificate(**fields, checks=checks)
        except (ValueError, TypeError, KeyError, AttributeError):
            return None
        return found if found.verdict in ("certified", "refused") else None

    def refusal(self) -> UnsupportedError:
        """The error that says which rule the store breaks."""
        broken = next((check for check in self.checks if not check.passed), None)
        return UnsupportedError(
            "the store breaks a rule that checkpoints rest on",
            hint="use another store (conf/STORES.md); after a repair, run `holdfast certify` again",
            store=self.store,
            rule=broken.rule if broken else "unknown",
            evidence=broken.evidence if broken else "",
        )
