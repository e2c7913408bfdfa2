"""What can go wrong between a client and an S3 server, as rules that a proxy follows."""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass, field
from enum import Enum
from urllib.parse import unquote
from xml.sax.saxutils import unescape


class Act(Enum):
    """What happens to a request that a rule matches."""

    REFUSE = "403"
    NOT_FOUND = "404"
    NO_BUCKET = "404 bucket"
    CONFLICT = "409"
    PRECONDITION = "412"
    INTERNAL = "500"
    SLOW_DOWN = "503"
    ERROR_IN_200 = "200 with an error"
    LOSE_REPLY = "reply lost"
    LOSE_REQUEST = "request lost"
    DUPLICATE = "delivered twice"
    SLOW = "slow"
    HALF_OPEN = "half-open"
    TRUNCATE = "truncated"
    LATE = "delivered late"
    STALE_LIST = "stale list"


CODES = {
    Act.REFUSE: (403, "AccessDenied"),
    Act.NOT_FOUND: (404, "NoSuchKey"),
    Act.NO_BUCKET: (404, "NoSuchBucket"),
    Act.CONFLICT: (409, "ConditionalRequestConflict"),
    Act.PRECONDITION: (412, "PreconditionFailed"),
    Act.INTERNAL: (500, "InternalError"),
    Act.SLOW_DOWN: (503, "SlowDown"),
    Act.ERROR_IN_200: (200, "PreconditionFailed"),
}


@dataclass(slots=True, kw_only=True)
class Rule:
    """The n-th request (0: every one) of a verb, whose key or list prefix matches.

    `count` is how many in a row: a storm. `seconds` is for what is slow.
    """

    act: Act
    verb: str = ".*"
    key: str = ".*"
    nth: int = 1
    count: int = 1
    seconds: float = 1.0
    seen: int = 0
    fired: int = 0

    def matches(self, verb: str, key: str) -> bool:
        """Whether this request is one to spoil; counts it."""
        if not re.fullmatch(self.verb, verb) or not re.search(self.key, key):
            return False
        self.seen += 1
        wanted = self.nth == 0 or self.nth <= self.seen < self.nth + self.count
        self.fired += wanted
        return wanted


@dataclass(slots=True)
class Script:
    """The rules in force, changed while the proxy runs."""

    _rules: list[Rule] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def set(self, *rules: Rule) -> None:
        with self._lock:
            self._rules = list(rules)

    def add(self, rule: Rule) -> None:
        with self._lock:
            self._rules = [*self._rules, rule]

    def remove(self, rule: Rule) -> None:
        with self._lock:
            self._rules = [each for each in self._rules if each is not rule]

    def find(self, verb: str, key: str) -> Rule | None:
        """The first rule that spoils this request."""
        with self._lock:
            return next((rule for rule in self._rules if rule.matches(verb, key)), None)


def describe(method: str, target: str, body: bytes = b"") -> tuple[str, str]:
    """The verb of the store and the key, or the prefix of a list, of an HTTP request.

    A delete of many names its keys in the body: the first one stands for all.
    """
    path, _, query = target.partition("?")
    options = dict(part.partition("=")[::2] for part in query.split("&") if part)
    key = unquote(path).lstrip("/").partition("/")[2]
    if method == "GET" and "list-type" in options:
        return "list", unquote(options.get("prefix", ""))
    if method == "POST" and "delete" in options:
        first = re.search(rb"<Key>(.*?)</Key>", body)
        return "delete", unescape(first[1].decode()) if first else key
    return method.lower(), key
