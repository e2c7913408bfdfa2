"""Hosts over a local store and a spool of the test's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from holdfast.spark.host import Host
from holdfast.spark.options import parse_options
from tests.trust import trusted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture
def make_host(tmp_path: Path) -> Iterator[Callable[..., Host]]:
    """A driver; each has its own spool, all have one store."""
    made: list[Host] = []

    def make(**settings: str) -> Host:
        conf = {
            "spark.holdfast.store": trusted((tmp_path / "store").as_uri()),
            "spark.holdfast.spool.dir": str(tmp_path / "spool"),
            **{f"spark.holdfast.{name}": value for name, value in settings.items()},
        }
        made.append(Host(parse_options(conf), application="test"))
        return made[-1]

    yield make
    for host in made:
        host.close()
