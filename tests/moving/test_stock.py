"""Looking at a checkpoint that Spark wrote: how far it got, and what makes it useless."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from holdfast.errors import ConfigError, CorruptionError, NotFoundError
from holdfast.moving.stock import survey
from tests.moving.support import QUERY_ID, origin, write, write_plan, write_stock

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def test_the_last_committed_batch_is_found(tmp_path: Path) -> None:
    """With the query's id, where its sources stood, and the watermark."""
    stock = survey(origin(write_stock(tmp_path, batches=12)))
    assert (stock.batch, stock.plan, stock.query_id) == (11, None, QUERY_ID)
    assert (stock.offsets.ends, stock.offsets.watermark_ms) == ({"0": '{"logOffset":11}'}, 11000)


def test_a_batch_that_was_begun_is_a_plan_and_nothing_more(tmp_path: Path) -> None:
    """Its offsets are kept; the state that it wrote is written again, so it stays behind."""
    stock = survey(origin(write_stock(tmp_path, batches=2, unfinished=True)))
    paths = {file.key for file in stock.files}
    assert stock.plan is not None
    assert (stock.batch, stock.plan.key, stock.beyond) == (1, "offsets/2", 2)
    assert "state/0/0/2.delta" in paths
    assert not {"state/0/0/3.delta", "offsets/2"} & paths


def test_a_query_that_never_committed_can_be_moved(tmp_path: Path) -> None:
    """Its first batch is planned, and there is no state yet."""
    stock = survey(origin(write_stock(tmp_path, batches=0, unfinished=True)))
    assert (stock.batch, stock.plan is not None, stock.beyond) == (-1, True, 2)


def test_temporary_files_and_checksums_are_counted_and_left(tmp_path: Path) -> None:
    """Nothing disappears silently."""
    stock = survey(origin(write_stock(tmp_path, batches=1)))
    paths = [file.key for file in stock.files]
    assert not any(path.rpartition("/")[2].startswith((".", "_")) for path in paths)
    assert stock.left == len(paths) + 2


DAMAGES: list[tuple[Callable[[Path], object], str]] = [
    (lambda root: (root / "offsets/2").unlink(), "batch 2 is committed, and there is no offsets/2"),
    (lambda root: (root / "offsets/1").unlink(), "there is no offsets/1"),
    (lambda root: write_plan(root, 4), "the offsets go on to batch 4"),
    (lambda root: write(root, "offsets/2", ""), "offsets/2 is cut short"),
    (lambda root: write(root, "commits/2", ""), "commits/2 is cut short"),
    (lambda root: write(root, "metadata", "{"), "holds no query id"),
    (lambda root: (root / "state/0/1/3.delta").unlink(), "state/0/1 lacks version 3"),
    (lambda root: (root / "state/0/0/1.delta").unlink(), "state/0/0 lacks version 1"),
]


@pytest.mark.parametrize(("damage", "reason"), DAMAGES, ids=[reason for _, reason in DAMAGES])
def test_what_cannot_be_gone_on_from_is_refused_with_the_reason(
    tmp_path: Path, damage: Callable[[Path], object], reason: str
) -> None:
    """Spark would fail at its next start, begin anew, or leave a batch out."""
    damage(write_stock(tmp_path))
    with pytest.raises(CorruptionError, match=reason):
        survey(origin(tmp_path))


def test_gaps_further_back_are_none_of_our_business(tmp_path: Path) -> None:
    """Asynchronous progress tracking leaves them, and Spark starts all the same."""
    write_stock(tmp_path, batches=9)
    (tmp_path / "offsets/3").unlink()
    (tmp_path / "commits/5").unlink()
    assert survey(origin(tmp_path)).batch == 8


def test_what_is_no_checkpoint_is_refused(tmp_path: Path) -> None:
    """With what was probably meant."""
    with pytest.raises(NotFoundError, match="nothing is here"):
        survey(origin(tmp_path))
    write_stock(tmp_path / "jobs/orders")
    with pytest.raises(ConfigError, match="checkpoints below it: jobs/orders"):
        survey(origin(tmp_path))
    (tmp_path / "manifests").mkdir()
    (tmp_path / "manifests/manifest-000001.json").write_text("{}")
    with pytest.raises(ConfigError, match="a query of Holdfast already"):
        survey(origin(tmp_path))
    with pytest.raises(NotFoundError, match="no such directory"):
        origin(tmp_path / "nope")
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="this is a file"):
        origin(tmp_path / "file")
