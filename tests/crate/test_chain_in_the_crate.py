"""A chain is a checkpoint store to the seed's own crate: listed, validated and recovered."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest

from holdfast.layout import Keys
from tests.chain.support import chain as make_chain
from tests.chain.support import damage, run

if TYPE_CHECKING:
    from holdfast.chain import Chain
    from holdfast.objectstore import LocalStore
    from tests.crate.conftest import Crate

pytestmark = [pytest.mark.crate, pytest.mark.timeout(1800)]

QUERY = "q"
KEYS = Keys.of_query(QUERY)


def chain(store: LocalStore, inline_bytes_max: int = 300) -> Chain:
    """Small manifests carry their pack, larger ones have a sidecar."""
    return make_chain(store, query=QUERY, inline_bytes_max=inline_bytes_max)


def valid_ids(crate: Crate) -> list[int]:
    return [one["id"] for one in crate("validate") if one["valid"]]


def test_every_checkpoint_of_a_chain_is_listed_and_valid(crate: Crate, store: LocalStore) -> None:
    """Claims, inline packs, sidecars, full and incremental manifests, and a rollback."""
    run(chain(store).claim(), 6)
    chain(store).rollback(4)
    run(chain(store).claim(), 3)
    numbers = [checkpoint.number for checkpoint in chain(store).history()]
    assert crate("list")["ids"] == numbers
    assert valid_ids(crate) == numbers


def test_they_recover_the_newest_checkpoint(crate: Crate, store: LocalStore) -> None:
    """And the one before it where it is corrupt, as we do."""
    run(chain(store).claim(), 4)
    assert crate("recover")["chosen_id"] == 5
    store.put(KEYS.manifest(5), b"{")
    assert crate("recover")["chosen_id"] == chain(store).recover().report.chosen == 4


def test_they_check_the_sidecar_of_a_commit(crate: Crate, store: LocalStore) -> None:
    """Its SHA-256 is where they look for it."""
    run(chain(store, inline_bytes_max=0).claim(), 2)
    sidecar = store.get(KEYS.state(3)).body
    assert crate("load", "3")["state_checksum"] == hashlib.sha256(sidecar).hexdigest()
    damage(store, KEYS.state(3))
    assert valid_ids(crate) == [1, 2]


def test_a_hint_of_ours_is_their_pointer(crate: Crate, store: LocalStore) -> None:
    """They load the checkpoint that it names."""
    writer = chain(store).claim()
    run(writer, 3)
    writer.write_hint()
    assert crate("latest")["checkpoint_id"] == 4


def test_a_tombstone_is_never_recovered(crate: Crate, store: LocalStore) -> None:
    """What retention leaves of a claim is listed, and invalid."""
    writer = chain(store).claim()
    run(writer, 20)
    assert writer.retain().tombstones == (1,)
    assert 1 in crate("list")["ids"]
    assert 1 not in valid_ids(crate)
    assert crate("recover")["chosen_id"] == 21
