"""What is read out of S3's answers."""

from __future__ import annotations

import pytest
from botocore.utils import parse_timestamp

from holdfast.objectstore.s3answers import parse_time


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-17T15:04:05.678Z",
        "2026-11-17T15:04:05Z",
        "2026-11-17T15:04:05.678+01:00",
        "Tue, 17 Nov 2026 15:04:05 GMT",
        "20261117T150405Z",
        "1794927845",
    ],
)
def test_a_time_is_what_botocore_reads(text: str) -> None:
    """Listings, headers, and the forms that only other servers send."""
    assert parse_time(text).timestamp() == parse_timestamp(text).timestamp()


@pytest.mark.parametrize("text", ["", "yesterday", "2026-13-01T00:00:00Z"])
def test_what_is_no_time_is_refused(text: str) -> None:
    """As botocore refuses it."""
    with pytest.raises(ValueError, match="timestamp"):
        parse_time(text)
