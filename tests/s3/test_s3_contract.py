"""The whole contract, kept by a real S3 server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from holdfast.testing import CONTRACT

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.objectstore import ObjectStore
    from tests.s3.server import Server

pytestmark = pytest.mark.s3


@pytest.mark.parametrize("claim", CONTRACT, ids=lambda claim: claim.__name__)
def test_s3_keeps_the_contract(
    store: ObjectStore, claim: Callable[[ObjectStore], None], s3_server: Server
) -> None:
    """The claim holds over the network."""
    if claim.__name__.startswith("presigning") and not s3_server.checks_signatures:
        pytest.skip("moto checks no signatures; MinIO does")
    claim(store)
