"""The rules that a store must keep, each as a function that tries to catch it breaking one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from holdfast.errors import AlreadyExistsError, NotFoundError, PreconditionError, StoreError
from holdfast.objectstore.base import ObjectStore, PutMode
from holdfast.objectstore.certify_race import at_once

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from holdfast.objectstore.certify_race import Outcome, Writer

READ = "read-after-write"
LIST = "list-after-write"
CREATE = "create-only"
IF_MATCH = "if-match"


class BrokenRuleError(Exception):
    """The store did what it must never do; inside this package only."""

    def __init__(self, rule: str, evidence: str) -> None:
        super().__init__(rule, evidence)
        self.rule = rule
        self.evidence = evidence


@dataclass(frozen=True, slots=True)
class Site:
    """Where the trial takes place: a store, and a prefix of this trial's own."""

    store: ObjectStore
    root: str


def reads(site: Site) -> int:
    """What was put is read at once, by every verb; what was deleted is gone at once."""
    store, key = site.store, f"{site.root}read"
    for body in (b"one", b"the second"):
        put = store.put(key, body)
        blob = store.get(key)
        _demand(blob.body == body, READ, f"put {body!r}, read {blob.body[:40]!r}")
        _demand(store.head(key).etag == put.etag == blob.meta.etag, READ, "etags differ by verb")
    store.delete([key])
    _refused(lambda: store.get(key), NotFoundError, READ, "a deleted object was read")
    return 3


def listings(site: Site) -> int:
    """Every listing has all keys that were put before it, in byte order, and no deleted one."""
    store, root = site.store, f"{site.root}list/"
    keys = [f"{root}{name}" for name in ("a-b", "a/b", "a0", "\U0001f600")]
    for count, key in enumerate(reversed(keys), start=1):
        store.put(key, b"x")
        found = [meta.key for meta in store.list(root).objects]
        _demand(found == keys[-count:], LIST, f"listed {_names(root, found)}")
    page = store.list(root, start_after=keys[0], limit=2)
    found = [meta.key for meta in page.objects]
    _demand(found == keys[1:3] and page.more, LIST, f"a page held {_names(root, found)}")
    store.delete(keys[:2])
    found = [meta.key for meta in store.list(root).objects]
    _demand(found == keys[2:], LIST, f"after a delete, listed {_names(root, found)}")
    return len(keys) + 2


def conditions(site: Site) -> int:
    """A lone writer is refused by every condition that does not hold."""
    store, key = site.store, f"{site.root}condition"
    first = store.put(key, b"first", mode=PutMode.CREATE)
    create = partial(store.put, key, b"second", mode=PutMode.CREATE)
    _refused(create, AlreadyExistsError, CREATE, "a create on a taken key was accepted")
    store.put(key, b"third", mode=PutMode.if_match(first.etag))
    stale = partial(store.put, key, b"fourth", mode=PutMode.if_match(first.etag))
    _refused(stale, PreconditionError, IF_MATCH, "a stale etag was accepted")
    absent = partial(store.put, f"{key}-absent", b"x", mode=PutMode.if_match(first.etag))
    _refused(absent, PreconditionError, IF_MATCH, "an etag was accepted for an absent object")
    body = store.get(key).body
    _demand(body == b"third", CREATE, f"a refused put changed the object to {body!r}")
    return 4


def race(site: Site, rule: str, key: str, mode: PutMode, writers: Sequence[Writer]) -> str:
    """All writers put to one key at one moment, and at most one may succeed; the new etag."""
    bodies = [f"{key} by writer {number}, etag {mode.etag}" for number in range(len(writers))]
    outcomes = at_once(
        [partial(writer, key, body, mode) for writer, body in zip(writers, bodies, strict=True)]
    )
    stored = site.store.get(key)
    _judge(rule, outcomes, bodies, stored.body.decode(errors="replace"))
    return stored.meta.etag


def _judge(rule: str, outcomes: Sequence[Outcome], bodies: Sequence[str], stored: str) -> None:
    won = [body for body, outcome in zip(bodies, outcomes, strict=True) if outcome == "won"]
    maybe = [body for body, outcome in zip(bodies, outcomes, strict=True) if outcome == "unknown"]
    _demand(len(won) <= 1, rule, f"{len(won)} of {len(bodies)} writers succeeded at once")
    _demand(bool(won or maybe), rule, f"all of {len(bodies)} writers were refused")
    _demand(stored in (won or maybe), rule, "the stored bytes are not the winner's")


def _demand(ok: bool, rule: str, evidence: str) -> None:  # noqa: FBT001 - reads like an assertion
    if not ok:
        raise BrokenRuleError(rule, evidence)


def _refused(
    call: Callable[[], object], expected: type[StoreError], rule: str, evidence: str
) -> None:
    try:
        call()
    except expected:
        return
    raise BrokenRuleError(rule, evidence)


def _names(root: str, keys: Sequence[str]) -> str:
    return ", ".join(key.removeprefix(root) for key in keys) or "nothing"
