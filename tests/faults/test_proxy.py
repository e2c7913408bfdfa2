"""The proxy does to a request what its rule says, and nothing to any other."""

from __future__ import annotations

import http.client
import time
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from tests.faults.proxy import FaultProxy, fault_proxy
from tests.faults.rules import CODES, Act, Rule, describe
from tests.objectstore.scripted import Reply, ScriptedServer
from tests.spark.processes import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

BODY = b"0123456789"
BREAKS = (http.client.HTTPException, OSError)


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    made = ScriptedServer(Reply(body=BODY))
    yield made
    made.close()


@pytest.fixture
def proxy(server: ScriptedServer) -> Iterator[FaultProxy]:
    with fault_proxy(server.endpoint) as made:
        yield made


def ask(proxy: FaultProxy, method: str = "GET", key: str = "bucket/k", body: bytes = b"") -> bytes:
    """One request on a connection of its own; the status and the body, or an exception."""
    connection = http.client.HTTPConnection(urlsplit(proxy.endpoint).netloc, timeout=0.5)
    try:
        connection.request(method, f"/{key}", body=body or None)
        reply = connection.getresponse()
        return b"%d " % reply.status + reply.read()
    finally:
        connection.close()


@pytest.mark.parametrize("act", CODES, ids=lambda act: str(act.value))
def test_a_refusal_never_reaches_the_server(
    proxy: FaultProxy, server: ScriptedServer, act: Act
) -> None:
    """It has S3's status and code, once; the next request passes."""
    proxy.script.set(Rule(act=act, verb="get"))
    status, code = CODES[act]
    answer = ask(proxy)
    assert answer.startswith(b"%d " % status)
    assert code.encode() in answer
    assert server.asked == []
    assert ask(proxy) == b"200 " + BODY


@pytest.mark.parametrize(
    ("act", "times"), [(Act.LOSE_REQUEST, 0), (Act.LOSE_REPLY, 1), (Act.HALF_OPEN, 1)]
)
def test_who_gets_no_answer_cannot_tell_what_happened(
    proxy: FaultProxy, server: ScriptedServer, act: Act, times: int
) -> None:
    """Lost on the way there, on the way back, or never answered: the client sees the same."""
    proxy.script.set(Rule(act=act, seconds=1))
    with pytest.raises(BREAKS):
        ask(proxy, "PUT", body=BODY)
    assert len(server.asked) == times


def test_a_late_request_takes_effect_after_its_sender_gave_up(
    proxy: FaultProxy, server: ScriptedServer
) -> None:
    """Which is when a retry may have taken effect already."""
    proxy.script.set(Rule(act=Act.LATE, seconds=0.2))
    with pytest.raises(BREAKS):
        ask(proxy, "PUT", body=BODY)
    assert server.asked == []
    wait_until(lambda: len(server.asked) == 1, "the late request", seconds=5)
    assert server.asked[0].body == BODY


def test_a_duplicate_is_answered_for_its_second_delivery(
    proxy: FaultProxy, server: ScriptedServer
) -> None:
    """So a create-only put that succeeded looks refused."""
    proxy.script.set(Rule(act=Act.DUPLICATE))
    assert ask(proxy, "PUT", body=BODY) == b"200 " + BODY
    assert [each.body for each in server.asked] == [BODY, BODY]


def test_a_slow_request_is_answered_all_the_same(proxy: FaultProxy) -> None:
    """Later."""
    proxy.script.set(Rule(act=Act.SLOW, seconds=0.3))
    started = time.monotonic()
    assert ask(proxy) == b"200 " + BODY
    assert time.monotonic() - started >= 0.3


def test_a_truncated_answer_is_shorter_than_it_says(proxy: FaultProxy) -> None:
    """And a truncated upload never arrives whole."""
    proxy.script.set(Rule(act=Act.TRUNCATE))
    with pytest.raises(http.client.IncompleteRead) as error:
        ask(proxy)
    assert error.value.partial == BODY[:5]


def test_a_truncated_upload_never_arrives_whole(proxy: FaultProxy, server: ScriptedServer) -> None:
    """The server waits for the rest, and the client gets no answer."""
    proxy.script.set(Rule(act=Act.TRUNCATE))
    with pytest.raises(BREAKS):
        ask(proxy, "PUT", body=BODY)
    assert [each for each in server.asked if each.body == BODY] == []


def test_a_stale_list_is_the_first_one_that_was_ever_given() -> None:
    """Of the very same list."""
    server = ScriptedServer(Reply(body=b"old"), Reply(body=b"new"))
    with fault_proxy(server.endpoint) as proxy:
        target = "bucket?list-type=2&prefix=p"
        assert ask(proxy, key=target) == b"200 old"
        proxy.script.set(Rule(act=Act.STALE_LIST, verb="list", key="^p$"))
        assert ask(proxy, key=target) == b"200 old"
        assert ask(proxy, key=target) == b"200 new"
    server.close()


@pytest.mark.parametrize(
    ("rule", "spoiled"),
    [
        (Rule(act=Act.REFUSE, key="/k$"), [True, False, False, False]),
        (Rule(act=Act.REFUSE, key="/k$", nth=2, count=2), [False, True, True, False]),
        (Rule(act=Act.REFUSE, key="/k$", nth=0), [True, True, True, True]),
        (Rule(act=Act.REFUSE, key="/k$", verb="put", nth=0), [False] * 4),
        (Rule(act=Act.REFUSE, key="/other", nth=0), [False] * 4),
    ],
)
def test_a_rule_spoils_what_it_names(proxy: FaultProxy, rule: Rule, spoiled: list[bool]) -> None:
    """By verb, key and count; and it counts what it did."""
    proxy.script.add(rule)
    assert [ask(proxy, key="bucket/a/k").startswith(b"403") for _ in range(4)] == spoiled
    assert rule.fired == sum(spoiled)
    proxy.script.remove(rule)
    assert ask(proxy, key="bucket/a/k") == b"200 " + BODY


@pytest.mark.parametrize(
    ("method", "target", "body", "expected"),
    [
        ("GET", "/b/a%20b/c", b"", ("get", "a b/c")),
        ("GET", "/b?list-type=2&prefix=p%2Fq&max-keys=1", b"", ("list", "p/q")),
        ("PUT", "/b/k?x-id=PutObject", b"", ("put", "k")),
        ("DELETE", "/b/k", b"", ("delete", "k")),
        ("POST", "/b?delete", b"<Delete><Object><Key>p&amp;q</Key>", ("delete", "p&q")),
        ("POST", "/b/k?uploads", b"", ("post", "k")),
    ],
)
def test_a_request_is_known_by_verb_and_key(
    method: str, target: str, body: bytes, expected: tuple[str, str]
) -> None:
    """As the store's own words for them are."""
    assert describe(method, target, body) == expected
