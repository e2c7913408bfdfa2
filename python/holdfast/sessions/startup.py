"""Starting and removing a query: may its sources go on from their checkpoints?

Invariants
- State kept elsewhere is cleared first; only then one put writes the new hash with no sources.
  Killed in between → the old hash is still there, and the next start clears again. So state of an
  old configuration never stands under the hash of a new one.
- Whatever the outcome, a start ends with one put, which fences the writer before it.
- Checkpoints without a hash are of an unknown configuration: a mismatch, not a first run.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from holdfast.errors import ConfigError, ConfigMismatchError, CorruptionError, FencedError
from holdfast.sessions.confighash import Config, canonical, config_hash
from holdfast.sessions.difference import ConfigChange, config_difference
from holdfast.sessions.state import ResumePoint, SourceState, resume_point

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from holdfast.sessions.checkpoints import SourceCheckpoints

_LOG = logging.getLogger(__name__)
_ATTEMPTS_MAX = 8
_CHANGES_SHOWN_MAX = 10
_MISMATCH_HINT = "undo the change, or start with policy auto-reset (starts anew) or warn (goes on)"


class Policy(Enum):
    """What to do where the stored state is not of this configuration."""

    STRICT = "strict"
    AUTO_RESET = "auto-reset"
    WARN = "warn"


class Outcome(Enum):
    """What a start found."""

    MATCH = "match"
    MISMATCH = "mismatch"
    FIRST_RUN = "first run"
    UNREADABLE = "unreadable"
    VOLATILE = "volatile"


@dataclass(frozen=True, slots=True, kw_only=True)
class StartDecision:
    """What a start found and did; a source without a resume point starts from its beginning."""

    outcome: Outcome
    was_reset: bool = False
    changes: tuple[ConfigChange, ...] = ()
    resume_points: Mapping[str, ResumePoint] = field(default_factory=dict)

    def resume_from(self, source_id: str) -> ResumePoint | None:
        return self.resume_points.get(source_id)


def start(
    checkpoints: SourceCheckpoints,
    config: Config,
    *,
    policy: Policy | str = Policy.STRICT,
    clear_state: Callable[[], None] | None = None,
) -> StartDecision:
    """Decide whether sources resume, and take the checkpoints over from any earlier writer.

    `strict` refuses another configuration and says what changed. `auto-reset` calls `clear_state`
    and starts anew; `clear_state` must clear all that the query keeps elsewhere, and may be called
    again. `warn` goes on with the old checkpoints and keeps their hash, so it warns at every start
    until someone resets. Where the newest checkpoints are unreadable only `auto-reset` goes on.
    Volatile checkpoints are cleared and nothing resumes.

    Raises:
        ConfigMismatchError: `strict`, and the configuration is another one; nothing was written.
        CorruptionError: the newest checkpoints are unreadable; nothing was written.
        FencedError: others kept writing while this start tried to take over.
        MisuseError: a session is open.
        ConfigError: no such policy, or the configuration holds what JSON cannot.
    """
    chosen = parse_policy(policy)
    wanted = SourceState(config_hash=config_hash(config), config=canonical(config))
    overtaken: FencedError | None = None
    for _ in range(_ATTEMPTS_MAX):
        decision = _decide(checkpoints, wanted, chosen)
        if decision.was_reset and clear_state is not None:
            clear_state()
        try:
            _take_over(checkpoints, decision, wanted)
        except FencedError as error:
            overtaken = error  # by a commit since we read: what we read is old, so decide again
        else:
            return decision
    raise FencedError(
        "others kept writing while this start tried to take over",
        hint="stop every other driver of this query, then start again",
        attempts=_ATTEMPTS_MAX,
    ) from overtaken


def remove(
    checkpoints: SourceCheckpoints,
    *,
    cleanup: bool,
    clear_state: Callable[[], None] | None = None,
) -> None:
    """End a query: roll back an open session, and with `cleanup` clear its checkpoints.

    `clear_state` is called before that, for the same reason as at a start. One empty document
    stays on the store, so that a driver which still runs finds its next number taken.
    """
    checkpoints.rollback()
    if not cleanup:
        return
    if clear_state is not None:
        clear_state()
    checkpoints.clear_checkpoints()


def _decide(checkpoints: SourceCheckpoints, wanted: SourceState, policy: Policy) -> StartDecision:
    try:
        state = checkpoints.refresh()
    except CorruptionError:
        if policy is not Policy.AUTO_RESET:
            raise
        return StartDecision(outcome=Outcome.UNREADABLE, was_reset=True)
    if not checkpoints.is_persistent:
        return StartDecision(outcome=Outcome.VOLATILE)
    if state.config_hash == wanted.config_hash:
        return StartDecision(outcome=Outcome.MATCH, resume_points=_resume_points(state))
    if state.config_hash is None and not state.sources:
        return StartDecision(outcome=Outcome.FIRST_RUN)
    return _mismatch(state, wanted, policy)


def _mismatch(state: SourceState, wanted: SourceState, policy: Policy) -> StartDecision:
    changes = changes_between(state, wanted)
    if decide_mismatch(changes, policy):
        return StartDecision(outcome=Outcome.MISMATCH, was_reset=True, changes=changes)
    return StartDecision(
        outcome=Outcome.MISMATCH, changes=changes, resume_points=_resume_points(state)
    )


def decide_mismatch(
    changes: tuple[ConfigChange, ...], policy: Policy, *, hint: str = _MISMATCH_HINT
) -> bool:
    """Apply a policy to a changed configuration; returns whether to start anew.

    Raises:
        ConfigMismatchError: the policy is `strict`.
    """
    shown = changes_text(changes)
    if policy is Policy.STRICT:
        raise ConfigMismatchError(
            "this query is not the one that wrote the checkpoints", hint=hint, changes=shown
        )
    if policy is Policy.WARN:
        _LOG.warning("going on with the checkpoints of another configuration: %s", shown)
    return policy is Policy.AUTO_RESET


def changes_text(changes: tuple[ConfigChange, ...]) -> str:
    """The first changes, in one line."""
    shown = "; ".join(map(str, changes[:_CHANGES_SHOWN_MAX]))
    if len(changes) > _CHANGES_SHOWN_MAX:
        shown = f"{shown}; and {len(changes) - _CHANGES_SHOWN_MAX} more"
    return shown


def changes_between(state: SourceState, wanted: SourceState) -> tuple[ConfigChange, ...]:
    """What differs, or at least the two hashes where no configuration was stored."""
    if state.config is not None and wanted.config is not None:
        changes = config_difference(state.config, wanted.config)
        if changes:
            return changes
    old = None if state.config_hash is None else f"{state.config_hash:#018x}"
    return (ConfigChange("config hash", old, f"{wanted.config_hash:#018x}"),)


def _take_over(
    checkpoints: SourceCheckpoints, decision: StartDecision, wanted: SourceState
) -> None:
    """The one put of a start."""
    if decision.outcome is Outcome.VOLATILE:
        checkpoints.clear_checkpoints()
    elif decision.was_reset or decision.outcome is Outcome.FIRST_RUN:
        checkpoints.reset(wanted)
    else:
        checkpoints.claim()


def _resume_points(state: SourceState) -> dict[str, ResumePoint]:
    return {name: resume_point(name, source) for name, source in state.sources.items()}


def parse_policy(policy: Policy | str) -> Policy:
    """The policy of this name.

    Raises:
        ConfigError: there is none.
    """
    try:
        return Policy(policy)
    except ValueError as error:
        known = ", ".join(each.value for each in Policy)
        raise ConfigError("no such policy", hint=f"one of: {known}", policy=policy) from error
