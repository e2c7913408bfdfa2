"""Real processes on a real directory: killed with SIGKILL, and two at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.chain.processes import kill_again_and_again, later_fences_earlier

if TYPE_CHECKING:
    from pathlib import Path


def test_killed_again_and_again_no_batch_is_lost_or_planned_twice(tmp_path: Path) -> None:
    """On a local directory, at random moments."""
    url = (tmp_path / "store").as_uri()
    kill_again_and_again(url, tmp_path / "sink", kills=12, seconds_max=0.15)


def test_the_later_of_two_processes_wins_and_the_earlier_ends(tmp_path: Path) -> None:
    """On a local directory."""
    later_fences_earlier((tmp_path / "store").as_uri(), tmp_path / "sink")
