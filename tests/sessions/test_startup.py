"""Starting a query: what is found, what each policy does with it, and in which order."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from holdfast.errors import (
    ConfigError,
    ConfigMismatchError,
    CorruptionError,
    MisuseError,
    UnavailableError,
)
from holdfast.objectstore import MemoryStore, ObjectStore
from holdfast.sessions import (
    Outcome,
    QueryConfig,
    ResumePoint,
    SourceCheckpoints,
    SourceState,
    config_hash,
    start,
)
from holdfast.testing.faults import Fault, FaultyStore
from tests.sessions.support import commit, documents, error_of, on_store, sequences, state

OLD, NEW = {"plan": "count", "partitions": 200}, {"plan": "count", "partitions": 400}
POLICIES = ["strict", "auto-reset", "warn"]


def _query(config: dict[str, Any] | None = OLD) -> MemoryStore:
    """A store on which a query ran before."""
    store = MemoryStore()
    checkpoints = on_store(store)
    commit(checkpoints, a=7)
    if config is not None:
        checkpoints.write_config_hash(config_hash(config), config)
    return store


def _never() -> None:
    pytest.fail("state was cleared")


@pytest.mark.parametrize("policy", POLICIES)
def test_a_first_run_writes_the_hash(policy: str) -> None:
    """Nothing is there: nothing is cleared, nothing resumes, and the next start matches."""
    store = MemoryStore()
    decision = start(on_store(store), OLD, policy=policy, clear_state=_never)
    assert (decision.outcome, decision.was_reset) == (Outcome.FIRST_RUN, False)
    assert decision.resume_from("a") is None
    assert state(store) == SourceState(config_hash=config_hash(OLD), config=OLD)


@pytest.mark.parametrize("policy", POLICIES)
def test_a_match_resumes(policy: str) -> None:
    """Every source gets its resume point, and one without a checkpoint gets none."""
    decision = start(on_store(_query()), OLD, policy=policy, clear_state=_never)
    assert (decision.outcome, decision.was_reset) == (Outcome.MATCH, False)
    assert decision.resume_from("a") == ResumePoint(source_id="a", sequence=7, source_position=b"7")
    assert decision.resume_from("b") is None


def test_strict_refuses_another_configuration_and_lists_what_changed() -> None:
    """It is the default; nothing is written, and nothing cleared."""
    store = _query()
    before = documents(store)
    with pytest.raises(ConfigMismatchError, match="partitions: 200 → 400") as caught:
        start(on_store(store), NEW, clear_state=_never)
    assert "auto-reset" in caught.value.hint
    assert documents(store) == before


def test_auto_reset_clears_elsewhere_before_it_writes() -> None:
    """While state is cleared the old hash still stands; then the new one, with no sources."""
    store = _query()
    seen: list[int | None] = []
    decision = start(
        on_store(store),
        NEW,
        policy="auto-reset",
        clear_state=lambda: seen.append(state(store).config_hash),
    )
    assert seen == [config_hash(OLD)]
    assert (decision.outcome, decision.was_reset) == (Outcome.MISMATCH, True)
    assert decision.resume_points == {}
    assert state(store) == SourceState(config_hash=config_hash(NEW), config=NEW)


def test_auto_reset_writes_nothing_if_clearing_fails() -> None:
    """The old hash stays, so the next start tries again."""
    store = _query()

    def fails() -> None:
        raise OSError("disk")

    with pytest.raises(OSError, match="disk"):
        start(on_store(store), NEW, policy="auto-reset", clear_state=fails)
    assert state(store).config_hash == config_hash(OLD)


def test_warn_goes_on_and_keeps_the_old_hash(caplog: pytest.LogCaptureFixture) -> None:
    """It resumes, says what changed, and says so again at every start."""
    store = _query()
    for _ in range(2):
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            decision = start(on_store(store), NEW, policy="warn", clear_state=_never)
        assert "partitions: 200 → 400" in caplog.text
        assert decision.outcome is Outcome.MISMATCH
        assert decision.resume_from("a") is not None
    assert state(store).config_hash == config_hash(OLD)


def test_checkpoints_without_a_hash_are_no_first_run() -> None:
    """Nobody knows which configuration they are of."""
    store = _query(config=None)
    with pytest.raises(ConfigMismatchError, match="config hash: added 0x"):
        start(on_store(store), OLD)
    decision = start(on_store(store), OLD, policy="auto-reset")
    assert (decision.outcome, decision.was_reset) == (Outcome.MISMATCH, True)


def test_a_hash_without_its_configuration_still_decides() -> None:
    """Then only the two numbers can be told."""
    checkpoints = on_store(MemoryStore())
    checkpoints.write_config_hash(5)
    with pytest.raises(ConfigMismatchError, match="config hash: 0x0000000000000005 → 0x"):
        start(checkpoints, OLD)


def _damaged() -> MemoryStore:
    store = _query()
    store.put(documents(store)[-1], b"{")
    return store


@pytest.mark.parametrize("policy", ["strict", "warn"])
def test_unreadable_checkpoints_stop_the_start(policy: str) -> None:
    """Neither a fresh start nor the older document; nothing is written."""
    store = _damaged()
    before = documents(store)
    with pytest.raises(CorruptionError, match="unreadable"):
        start(on_store(store), OLD, policy=policy, clear_state=_never)
    assert documents(store) == before


def test_auto_reset_starts_anew_over_unreadable_checkpoints() -> None:
    """The same configuration or another: what cannot be read cannot be resumed."""
    store, cleared = _damaged(), list[str]()
    decision = start(
        on_store(store), OLD, policy="auto-reset", clear_state=lambda: cleared.append("yes")
    )
    assert (decision.outcome, decision.was_reset) == (Outcome.UNREADABLE, True)
    assert cleared == ["yes"]
    assert state(store) == SourceState(config_hash=config_hash(OLD), config=OLD)


@pytest.mark.parametrize("policy", POLICIES)
def test_a_store_that_does_not_answer_is_not_unreadable(policy: str) -> None:
    """Nothing is reset because a request failed."""
    silent = Fault(error=UnavailableError("no answer"), verb="get", nth=0)
    store = FaultyStore(_query(), [silent])
    with pytest.raises(UnavailableError):
        start(on_store(store), NEW, policy=policy, clear_state=_never)


@pytest.mark.parametrize("policy", POLICIES)
def test_a_later_format_is_not_unreadable(policy: str) -> None:
    """A downgrade does not wipe what the newer version wrote."""
    store = _query()
    key = documents(store)[-1]
    store.put(key, store.get(key).body.replace(b'"format":1', b'"format":2'))
    with pytest.raises(ConfigError, match="newer holdfast"):
        start(on_store(store), OLD, policy=policy, clear_state=_never)
    with pytest.raises(ConfigError, match="newer holdfast"):
        on_store(store).clear_checkpoints()


@pytest.mark.parametrize("policy", POLICIES)
def test_volatile_checkpoints_never_resume(policy: str) -> None:
    """No hash is compared, nothing elsewhere is cleared, and sources count anew."""
    checkpoints = SourceCheckpoints()
    checkpoints.write_config_hash(5)
    commit(checkpoints, a=7)
    decision = start(checkpoints, OLD, policy=policy, clear_state=_never)
    assert (decision.outcome, decision.resume_points) == (Outcome.VOLATILE, {})
    commit(checkpoints, a=1)
    assert sequences(checkpoints) == {"a": 1}


def test_a_start_within_a_session_is_misuse() -> None:
    """What it staged would belong to nobody."""
    checkpoints = on_store(MemoryStore())
    checkpoints.begin()
    with pytest.raises(MisuseError, match="a session is open"):
        start(checkpoints, OLD)


def test_policies_have_names() -> None:
    """A wrong one is refused with the right ones."""
    error = error_of(lambda: start(on_store(MemoryStore()), OLD, policy="lenient"))
    assert isinstance(error, ConfigError)
    assert error.hint == "one of: strict, auto-reset, warn"


def test_a_query_configuration_starts_too() -> None:
    """The typed configuration and the plain mapping go the same way."""
    store: ObjectStore = MemoryStore()
    start(on_store(store), QueryConfig(query="MATCH (n) RETURN n", id="one"))
    again = start(on_store(store), QueryConfig(query="MATCH (n) RETURN n", id="two"))
    assert again.outcome is Outcome.MATCH
    with pytest.raises(ConfigMismatchError, match=r"query: .*RETURN n.* → .*RETURN m"):
        start(on_store(store), QueryConfig(query="MATCH (n) RETURN m"))
