"""Claims: one writer, never a silent fresh start, and no plan that ran is forgotten."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import pytest

from holdfast.chain import Chain
from holdfast.chain.claim import claim, reserve
from holdfast.errors import (
    AlreadyExistsError,
    CarriedPlanError,
    CorruptionError,
    FencedError,
    NotFoundError,
)
from holdfast.layout import Keys
from holdfast.manifest import CheckpointManifest
from holdfast.manifest.record import Kind
from holdfast.objectstore import MemoryStore
from holdfast.testing import Fault, FaultyStore, ManualClock, lost_reply
from tests.chain.support import (
    QUERY,
    Meddling,
    chain,
    damage,
    keys_of,
    plan,
    results,
    retried,
    run,
)

KEYS = Keys.of_query(QUERY)


def test_first_claim_is_number_one_with_an_epoch_that_the_seed_accepts() -> None:
    """Readers of the seed's format refuse epoch 0, so the first claim has 1."""
    store = MemoryStore()
    writer = chain(store).claim()
    manifest = CheckpointManifest.decode(store.get(KEYS.manifest(1)).body)
    assert (writer.head.number, manifest.epoch, writer.head.batch) == (1, 1, -1)
    assert manifest.validate() == []


def test_claim_shows_exactly_what_the_last_commit_left() -> None:
    """A start sees the files of the last checkpoint, with sizes and times, and nothing else."""
    store = MemoryStore()
    before = chain(store).claim()
    run(before, 5)
    after = chain(store, "two").claim()
    shown = {path: (f.size, f.mtime_ms) for path, f in after.head.visible().items()}
    assert shown == {path: (f.size, f.mtime_ms) for path, f in before.head.files.items()}
    assert chain(store).read(after.head)["state/0/5.delta"] == b"state 4"


def test_older_driver_is_fenced_at_its_next_intent_and_told_by_whom() -> None:
    """The error names host, application and time of the writer who took over."""
    store = MemoryStore()
    older = chain(store, "old").claim()
    chain(store, "new").claim()
    with pytest.raises(FencedError, match=r"app-new.*2023-11-14T") as caught:
        older.intent(0, plan(0))
    assert "host-new" in str(caught.value)
    assert "fence each other for ever" in caught.value.hint


def test_a_writer_whose_clock_was_anything_still_fences() -> None:
    """The year 36,000 is no date that can be shown, and no reason to fail otherwise."""
    store = MemoryStore()
    older = chain(store, "old").claim()
    ahead = replace(chain(store, "new").context, clock=ManualClock(now_ms=1 << 60))
    claim(ahead)
    with pytest.raises(FencedError, match=f"at=`{1 << 60} ms`"):
        older.intent(0, plan(0))


def test_a_machine_that_lost_its_clock_writes_what_others_can_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Before 1970 is 1970."""
    store = MemoryStore()
    monkeypatch.setattr("time.time_ns", lambda: -5_000_000)
    Chain(store, QUERY).claim()
    assert chain(store).claim().report.chosen == 1


def test_a_query_has_one_name() -> None:
    """With or without slashes at its ends, as people write paths."""
    store = MemoryStore()
    run(chain(store, query="eu/orders").claim(), 1)
    assert chain(store, query="/eu//orders/").claim().report.chosen == 2


def test_older_driver_in_mid_batch_is_refused_at_its_manifest() -> None:
    """A batch whose intent came before the claim runs, and is not committed by the old driver."""
    store = MemoryStore()
    older = chain(store, "old").claim()
    older.intent(0, plan(0))
    newer = chain(store, "new").claim()
    with pytest.raises(FencedError):
        older.commit(0, results(0))
    assert newer.head.batch == -1


def test_claim_adopts_the_plan_of_the_batch_that_was_running() -> None:
    """Otherwise a batch that has reached its sink runs again with other offsets."""
    store = MemoryStore()
    older = chain(store, "old").claim()
    older.intent(0, plan(0, "the first plan"))
    newer = chain(store, "new").claim()
    assert chain(store).read(newer.head)["offsets/0"] == b"the first plan"
    assert newer.commit(0, results(0)).number == 3
    assert chain(store).read(newer.head)["offsets/0"] == b"the first plan"


def test_plans_of_later_batches_are_carried_and_not_shown() -> None:
    """Spark is shown the plan of the next batch only; the one after it waits in the manifests."""
    store = MemoryStore()
    older = chain(store, "old").claim()
    run(older)
    older.intent(1, plan(1, "ran already"))
    damage(store, KEYS.manifest(2))
    newer = chain(store, "new").claim()
    assert "offsets/0" in newer.head.visible()
    assert "offsets/1" not in newer.head.visible()
    newer.commit(0, results(0))
    with pytest.raises(CarriedPlanError, match="start the query again"):
        newer.intent(1, plan(1, "another plan"))
    restarted = chain(store, "newest").claim()
    assert chain(store).read(restarted.head)["offsets/1"] == b"ran already"


def test_a_carried_plan_may_be_planned_again_as_it_was() -> None:
    """The same plan is no contradiction."""
    store = MemoryStore()
    older = chain(store, "old").claim()
    run(older)
    older.intent(1, plan(1, "ran already"))
    damage(store, KEYS.manifest(2))
    newer = chain(store, "new").claim()
    newer.commit(0, results(0))
    newer.intent(1, plan(1, "ran already"))
    assert newer.commit(1, results(1)).batch == 1


def test_lost_reply_of_the_claim_itself_is_recognised() -> None:
    """Our own nonce under the number is our success, not a lost race."""
    store = MemoryStore()
    faulty = FaultyStore(store, [lost_reply(verb="put", key="*manifest-000001*")])
    writer = chain(retried(faulty)).claim()
    assert writer.head.number == 1
    assert run(writer).number == 2


def test_claim_does_not_believe_the_hint() -> None:
    """The highest number comes from the listing; a hint may lag or lie."""
    store = MemoryStore()
    run(chain(store).claim(), 3)
    store.put(KEYS.latest, b'{"checkpoint_id":1}')
    assert chain(store, "two").claim().head.number == 5


def test_claim_gives_up_after_a_bounded_number_of_lost_races() -> None:
    """Two drivers that claim for ever must not spin for ever."""
    store = MemoryStore()

    rival = Meddling(store, "/manifest-", before=lambda: chain(store, "rival").claim())
    with pytest.raises(FencedError, match="host-rival"):
        chain(rival, claim_attempts_max=3).claim()


@pytest.mark.parametrize("verb", ["put", "get"])
def test_a_number_that_is_refused_and_not_there_is_not_ours(verb: Literal["put", "get"]) -> None:
    """It was taken and is gone, or the store errs: whoever had it may have planned a batch."""
    store = MemoryStore()
    older = chain(store, "old").claim()
    error = (
        AlreadyExistsError("object exists") if verb == "put" else NotFoundError("no such object")
    )
    if verb == "get":
        older.intent(0, plan(0, "the first plan"))
    faulty = FaultyStore(store, [Fault(error=error, verb=verb, key="*intent-000002*")])
    newer = chain(faulty, "new").claim()
    assert store.get(KEYS.intent(newer.head.claim)).body  # voided, or the plan of who ran before
    with pytest.raises(FencedError):
        run(older)
    assert run(newer).batch == 0
    first = b"the first plan" if verb == "get" else b"plan of 0"
    assert chain(store).read(newer.head)["offsets/0"] == first


def test_a_claim_gets_past_the_numbers_that_lost_claims_have_voided() -> None:
    """It claims the next number, which fences whoever runs, and then the last one."""
    store = MemoryStore()
    run(chain(store).claim(), 2)
    for number in range(5, 25):
        reserve(chain(store).context, number)
    assert chain(store, "two").claim().head.number == 24
    assert chain(store, "three").claim().head.number == 25


def test_an_intent_far_ahead_costs_one_claim_more() -> None:
    """However far it is: one start, and two objects besides the usual two."""
    store = MemoryStore()
    run(chain(store).claim(), 2)
    reserve(chain(store).context, 3_000)
    before = len(keys_of(store))
    writer = chain(store, "two").claim()
    assert (writer.head.number, len(keys_of(store)) - before) == (3_000, 3)
    assert run(writer).number == 3_001


@pytest.mark.parametrize("sign", ["the next batch's intent", "latest.json"])
def test_a_claim_over_a_missing_manifest_says_so(sign: str) -> None:
    """The claim fills the gap, so its own manifest keeps what it did not find, and why."""
    store = MemoryStore()
    writer = chain(store).claim()
    lost = run(writer, 3).number
    if sign == "latest.json":
        writer.write_hint()
    else:
        writer.intent(3, plan(3))
    store.delete([KEYS.manifest(lost)])
    again = chain(store, "two").claim()
    assert (again.head.batch, again.report.chosen) == (1, lost - 1)
    ((number, reason),) = again.report.skipped
    assert (number, "its manifest is missing" in reason) == (lost, True)
    entry = chain(store).history()[-1].entry
    assert entry is not None
    assert entry.record.skipped == again.report.skipped


def test_what_is_damaged_below_a_missing_manifest_is_reported_too() -> None:
    """Newest first, each with its reason, by the start and in its manifest."""
    store = MemoryStore()
    writer = chain(store).claim()
    run(writer, 4)
    writer.intent(4, plan(4))
    store.delete([KEYS.manifest(5)])
    damage(store, KEYS.manifest(4))
    report = chain(store, "two").claim().report
    assert ([number for number, _ in report.skipped], report.chosen) == ([5, 4], 3)


def test_a_claim_that_goes_back_keeps_the_plans_of_every_batch_since() -> None:
    """Those of numbers whose manifests are missing, too: each may have reached the sink."""
    store = MemoryStore()
    writer = chain(store).claim()
    run(writer, 3)
    writer.intent(3, plan(3, "the last plan"))
    store.delete([KEYS.manifest(3), KEYS.manifest(4)])
    again = chain(store, "two").claim()
    assert (again.head.batch, sorted(again.head.plans)) == (0, [1, 2, 3])


def test_deleted_manifests_are_never_a_fresh_start() -> None:
    """Intents without manifests mean that checkpoints were deleted."""
    store = MemoryStore()
    run(chain(store).claim(), 2)
    store.delete([KEYS.manifest(n) for n in (1, 2, 3)])
    with pytest.raises(CorruptionError, match="its checkpoints were deleted"):
        chain(store).claim()


def test_checkpoints_of_which_none_is_valid_are_never_a_fresh_start() -> None:
    """An error for the operator, which names the newest and its reason."""
    store = MemoryStore()
    run(chain(store).claim(), 2)
    for number in (1, 2, 3):
        damage(store, KEYS.manifest(number))
    with pytest.raises(CorruptionError, match=r"none is valid.*newest=`3`"):
        chain(store).claim()


def test_unreadable_intent_above_the_head_stops_the_claim() -> None:
    """The plan of a batch that may have run is lost: no one may plan it anew unasked."""
    store = MemoryStore()
    writer = chain(store).claim()
    run(writer)
    writer.intent(1, plan(1))
    damage(store, KEYS.intent(3))
    with pytest.raises(CorruptionError, match="the plan of a batch that may have run is lost"):
        chain(store, "two").claim()


def test_numbers_go_on_beyond_six_digits() -> None:
    """manifest-1000000 comes after manifest-999999, though it sorts before it."""
    store = MemoryStore()
    writer = chain(store).claim()
    writer.head.number = 999_997
    run(writer, 4)
    store.delete([KEYS.manifest(1)])
    again = chain(store, "two").claim()
    assert (again.head.number, again.head.kind) == (1_000_002, Kind.CLAIM)
    with pytest.raises(FencedError):
        run(writer)
