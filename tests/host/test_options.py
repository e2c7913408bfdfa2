"""Settings of Spark's configuration: read as Spark writes them, or refused by name."""

from __future__ import annotations

import pytest

from holdfast import ConfigError, RetryingStore, UnavailableError
from holdfast.ids import Writer
from holdfast.spark.options import PREFIX, STORE, parse_options
from holdfast.spark.stores import Stores
from holdfast.testing import ManualClock

I64_MAX = 2**63 - 1


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("retain", "0"),
        ("retain", "many"),
        ("fullEvery", "-1"),
        ("hintEvery", "-1"),
        ("gate.seconds", "0"),
        ("gate.seconds", "1.5"),
        ("gate.seconds", str(24 * 3600 + 1)),
        ("ticketSeconds", "0"),
        ("ticketSeconds", str(7 * 24 * 3600 + 1)),
        ("largeFileBytes", "-1"),
        ("inlineBytes", "64 kilobytes"),
        ("spool.maxBytes", str(I64_MAX + 1)),
        ("prefetchBytes", f"{2**23}t"),
        ("validate", "yes"),
        ("verifyReads", "md5"),
    ],
)
def test_a_value_that_cannot_be_is_refused_by_name(name: str, text: str) -> None:
    """Before anything is opened, with the setting, what was given and what it is for."""
    with pytest.raises(ConfigError) as refused:
        parse_options({f"{PREFIX}{name}": text})
    assert f"setting=`{PREFIX}{name}`" in str(refused.value)
    assert f"value=`{text}`" in str(refused.value)
    assert "the default is" in str(refused.value)


def test_the_largest_and_the_smallest_are_taken() -> None:
    """Java's largest long is a size, and nothing at all is one too."""
    options = parse_options(
        {
            f"{PREFIX}spool.maxBytes": str(I64_MAX),
            f"{PREFIX}prefetchBytes": "0",
            f"{PREFIX}ticketSeconds": str(7 * 24 * 3600),
            f"{PREFIX}hintEvery": "0",
            f"{PREFIX}gate.seconds": "900",
        }
    )
    assert options.spool_bytes_max == I64_MAX
    assert (options.prefetch_bytes, options.chain.hint_every) == (0, 0)
    assert options.ticket_seconds == 7 * 24 * 3600
    assert (options.chain.gate_seconds, options.retry.seconds) == (900, 900)


def test_a_changed_time_reaches_a_store_that_is_open() -> None:
    """It counts from the next start on, as every setting does; the store is the same place."""
    store = {STORE: "s3://A:b@bucket?endpoint_url=http://127.0.0.1:9"}
    stores = Stores(parse_options(store), Writer.here("app"), ManualClock())
    before = stores.open("")
    stores.set_options(parse_options(store))
    assert stores.open("") is before
    stores.set_options(parse_options({**store, f"{PREFIX}gate.seconds": "7"}))
    after = stores.open("")
    assert isinstance(after, RetryingStore)
    with pytest.raises(UnavailableError, match="gave up after 7 s"):
        after.head("key")
    assert stores.changes == 0
