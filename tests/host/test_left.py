"""Large files of attempts that lost or died go after the next commit; what a record names stays."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.host.jvm import FakeJvm

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.spark.host import Host
    from holdfast.spark.tickets import Ticket

ZIP, OTHER = "state/0/0/1.zip", "state/0/0/other.zip"


@pytest.fixture
def jvm(make_host: Callable[..., Host]) -> FakeJvm:
    return FakeJvm(make_host())


def is_there(jvm: FakeJvm, ticket: Ticket) -> bool:
    """Once all upkeep is done."""
    jvm.host._background.close()
    return Path(ticket.address).exists()


def test_what_was_replaced_before_its_commit_is_deleted(jvm: FakeJvm) -> None:
    """Two attempts of one task: the manifest names the second."""
    first, second = jvm.upload(ZIP, b"first"), jvm.upload(ZIP, b"second")
    jvm.run_batch(0)
    assert (is_there(jvm, first), is_there(jvm, second)) == (False, True)


def test_nothing_is_deleted_before_the_commit(jvm: FakeJvm) -> None:
    """A plan does not say yet what the manifest will name."""
    first = jvm.upload(ZIP, b"first")
    jvm.upload(ZIP, b"second")
    jvm.write("offsets/0", b"v1\n{}\n1")
    jvm.host.intent(jvm.key, jvm.claim, 0, jvm.tell())
    assert is_there(jvm, first)


def test_what_came_too_late_is_deleted(jvm: FakeJvm) -> None:
    """The JVM has dropped it, and tells which object that leaves."""
    kept, late = jvm.upload(ZIP, b"kept"), jvm.upload(OTHER, b"late")
    jvm.tell()
    jvm.run_batch(0)
    jvm.leave(late)
    jvm.run_batch(1)
    assert (is_there(jvm, kept), is_there(jvm, late)) == (True, False)


def test_what_was_moved_before_its_commit_stays(jvm: FakeJvm) -> None:
    """The name that is gone was its object's first, and not its last."""
    file = jvm.upload(ZIP, b"moved")
    jvm.move(ZIP, OTHER, file)
    jvm.run_batch(0)
    assert is_there(jvm, file)


def test_what_was_moved_into_a_plan_stays(jvm: FakeJvm) -> None:
    """An intent names it, and the manifest after it does not."""
    file = jvm.upload("sources/0/part", b"moved")
    jvm.move("sources/0/part", "sources/0/0.compact", file)
    jvm.run_batch(0)
    assert is_there(jvm, file)


def test_what_an_earlier_checkpoint_names_stays(jvm: FakeJvm) -> None:
    """It was committed, then moved, then removed, and may be rolled back to."""
    file = jvm.upload(ZIP, b"committed")
    jvm.run_batch(0)
    jvm.move(ZIP, OTHER, file)
    jvm.remove(OTHER)
    jvm.run_batch(1)
    assert is_there(jvm, file)


def test_what_could_not_be_deleted_is_deleted_later(jvm: FakeJvm) -> None:
    """A warning, and the next commit tries again."""
    first = jvm.upload(ZIP, b"first")
    jvm.upload(ZIP, b"second")
    file = Path(first.address)
    file.unlink()
    file.mkdir()  # the store cannot delete this
    jvm.run_batch(0)
    assert is_there(jvm, first)
    assert "tried again later" in jvm.host.statuses()[0].warnings[0]
    file.rmdir()
    file.write_bytes(b"first")
    jvm.run_batch(1)
    assert not is_there(jvm, first)
