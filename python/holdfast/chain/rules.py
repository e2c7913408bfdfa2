"""The clauses of the protocol, one predicate each, named after what it prevents.

The protocol's steps ask these and decide nothing themselves, so that a test can take one clause
out and show the schedule in which a batch is then lost, doubled or planned twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.manifest.record import Kind

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

FENCES = frozenset({
    Kind.CLAIM,
    Kind.ROLLBACK,
    Kind.RESET,
    Kind.CLONE,
    Kind.REMOVED,
    Kind.TOMBSTONE,
})  # fmt: skip


def holds_its_number(kind: Kind) -> bool:
    """A claim's number is never freed.

    Prevents: a driver asleep for a year creates that number again and goes on unfenced.
    """
    return kind in FENCES


def is_highest(number: int, listed: Iterable[int]) -> bool:
    """A claim holds only if, listed once more, no manifest and no intent is above it.

    Prevents: a claim on a number that retention has freed meanwhile, far below the real head.
    """
    return all(other <= number for other in listed)


def is_foreign(expected: str, incarnation: str) -> bool:
    """A document belongs to another incarnation of the query, from before it was removed.

    Prevents: a request that arrives after the removal brings removed state back.
    Documents from before incarnations have none.
    """
    return bool(expected and incarnation) and expected != incarnation


def numbers_to_adopt(valid: int, claimed: int) -> range:
    """The plans of all numbers above the newest valid checkpoint count, not only the last one's.

    Prevents: after a walk back, a batch that had run is planned a second time, otherwise.
    """
    return range(valid + 1, claimed + 1)


def must_list_again(*, gone: bool, settled: bool) -> bool:
    """A listed manifest that is gone or a tombstone means that the listing is old.

    Prevents: recovery finds nothing valid, or something older, beside a healthy newer chain.
    `settled` is a listing that came out the same twice: then what is gone, is gone.
    """
    return gone and not settled


def pack_has_number_key(kind: Kind) -> bool:
    """Only a commit's pack is `state-n.bin`; all others have keys that no one else can write.

    Prevents: a claim and the fenced driver's last commit write the same key for one number.
    """
    return kind is Kind.COMMIT


def oldest_to_keep(listed: Collection[int], valid: Collection[int], keep: int) -> int:
    """The oldest of the newest `keep` valid checkpoints; the oldest of all if there are fewer.

    Prevents: corrupt checkpoints count as kept, and the last good one is deleted.
    """
    return sorted(valid)[-keep] if len(valid) >= keep else min(listed, default=0)


def intent_is_old(number: int, oldest_kept: int) -> bool:
    """An intent goes only below the oldest kept manifest.

    Prevents: the plan of the running batch, or of one that a walk back runs again, is lost.
    """
    return number < oldest_kept


def pack_is_decided(number: int, highest: int) -> bool:
    """A pack of number n can be garbage only once a manifest of n or above exists.

    Prevents: retention deletes a pack whose manifest is about to be created.
    """
    return number <= highest


def claim_in_force(claims: Mapping[int, int]) -> int:
    """The claim that counts is the one that wrote the highest manifest, not the highest claim.

    `claims` are the claims of all manifests by number.
    Prevents: a claimant that stalled creates a number which retention had freed, and its claim,
    which was never in force, makes the running driver's uploads look abandoned.
    """
    return claims[max(claims)] if claims else 0


def file_is_abandoned(claim: int, claim_in_force: int) -> bool:
    """A large file that no manifest has named yet is in flight while its claim is in force.

    Prevents: retention deletes a file between its upload and its commit.
    """
    return claim < claim_in_force


def another_retires(kept: Collection[int], present: Collection[int]) -> bool:
    """A manifest that this run keeps is gone: another run deletes them at the same time.

    Prevents: refs are listed, a tag is put and sees its manifest, the other run deletes that, and
    then manifests are listed: what the tag holds is in neither listing, and is deleted.
    """
    return not set(kept) <= set(present)


def refs_are_settled(before: object, after: object, *, all_read: bool) -> bool:
    """Refs that were listed, read and listed again are all there are if nothing changed.

    Prevents: refs are listed, a tag is made from another one and that one removed, then they are
    read: neither is found, and what they hold is deleted.
    """
    return all_read and before == after


def is_removed(generation: int, removed: int) -> bool:
    """A removal marker covers its own generation of a tag, and those before it.

    Prevents: the put of a removed tag arrives late and brings it back.
    """
    return generation <= removed


def ref_is_in_time(seen: Mapping[int, str], present: Mapping[int, str]) -> bool:
    """Every manifest from the base to the target is there in the version that was read.

    Prevents: half a retention has deleted the base, a sweep deletes what only the base named, and
    a tag of a later manifest, which is still there, counts as held.
    """
    return all(present.get(number) == etag for number, etag in seen.items())


def is_before(number: int, fence: int) -> bool:
    """A removal deletes only what is older than its own claim.

    Prevents: what a driver that was started again has committed since is deleted, too.
    """
    return number < fence


def walks_over_rollback(valid: int, highest: int, rollbacks: Collection[int]) -> bool:
    """A rollback whose manifest cannot be read stops recovery.

    Prevents: walking back over it brings the undone batches to life again.
    """
    return any(valid < number <= highest for number in rollbacks)


def plan_differs(carried: Mapping[int, str], batch: int, digest: str) -> bool:
    """A batch that was planned before runs with that plan or not at all.

    Prevents: a batch whose sink has run is run again with other offsets.
    """
    return batch in carried and carried[batch] != digest
