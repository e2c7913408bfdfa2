"""Absolute paths inside a checkpoint, and the identity of a clone."""

from __future__ import annotations

import itertools

import orjson
import pytest

from holdfast.errors import CorruptionError
from holdfast.sparkfiles.identity import Clone, parse_query_id
from holdfast.sparkfiles.locations import (
    as_spark_writes,
    beside,
    holdfast_location,
    holds_locations,
    relocated,
)

PATH = "state/0/_metadata/v2/0"


def metadata(root: str) -> bytes:
    """As Spark 4.3 writes it."""
    document = {
        "operatorInfo": {"operatorId": 0, "operatorName": "transformWithStateExec"},
        "stateStoreInfo": [
            {
                "storeName": "default",
                "numColsPrefixKey": 0,
                "numPartitions": 2,
                "stateSchemaFilePaths": [
                    f"{root}/state/0/_stateSchema/default/0_a",
                    f"{root}/state/0/_stateSchema/default/4_b",
                ],
            }
        ],
        "operatorPropertiesJson": '{"timeMode":"NoTime"}',
    }
    return b"v2\n" + orjson.dumps(document)


def test_every_schema_file_is_below_the_new_root() -> None:
    """And nothing else has changed."""
    old, new = metadata("file:/data/old state/x"), metadata("holdfast:/orders")
    assert relocated(old, lambda _: "holdfast:/orders") == new


def test_the_old_root_is_read_from_the_file() -> None:
    """A checkpoint that was copied before it is imported names where it was, not where it is."""
    body = metadata("s3a://bucket/a/b")
    assert relocated(body, lambda root: f"{root}/c") == metadata("s3a://bucket/a/b/c")


@pytest.mark.parametrize(
    "body", [b"", b"v3\n{}", b"v2\n{", b"v2\n{}", metadata("x").replace(b"_stateSchema", b"other")]
)
def test_what_cannot_be_understood_is_refused(body: bytes) -> None:
    """A clone that reads the original's files is worse than none."""
    with pytest.raises(CorruptionError, match="not as this version knows it"):
        relocated(body, lambda root: root)


def test_only_state_metadata_of_version_2_holds_locations() -> None:
    """Version 1 has no schema files."""
    assert holds_locations(PATH)
    assert not holds_locations("state/0/_metadata/metadata")
    assert not holds_locations("state/0/_stateSchema/default/0_a")


@pytest.mark.parametrize(
    ("location", "written"),
    [
        ("holdfast:///orders", "holdfast:/orders"),
        ("holdfast://prod/eu/orders/", "holdfast://prod/eu/orders"),
        ("file:///data/my checkpoint", "file:/data/my checkpoint"),
        ("s3a://bucket/prefix", "s3a://bucket/prefix"),
    ],
)
def test_locations_are_written_as_hadoop_prints_them(location: str, written: str) -> None:
    """Without an empty authority, without a slash at the end."""
    assert as_spark_writes(location) == written


def test_a_clone_stays_on_the_store_that_the_job_named() -> None:
    """`holdfast://prod/orders` is cloned to `holdfast://prod/copy`."""
    assert beside("holdfast://prod/orders", "copy") == "holdfast://prod/copy"
    assert beside("holdfast:/orders", "a/copy") == "holdfast:/a/copy"
    assert beside("file:/left/over", "copy") == as_spark_writes(holdfast_location("copy"))


def test_a_clone_has_an_id_of_its_own() -> None:
    """Two clones too; what else is in `metadata` stays."""
    numbers = itertools.count()
    own = Clone("copy", lambda: str(next(numbers)))
    body = b'{"id":"ad8248b4-5777-4e6b-bd9f-4950cc723b25","more":1}'
    first, second = own.rewrite("metadata", body), own.rewrite("metadata", body)
    assert len({parse_query_id(each) for each in (body, first, second)}) == 3
    assert orjson.loads(first)["more"] == 1
    assert own.rewrite(PATH, metadata("holdfast:/orders")) == metadata("holdfast:/copy")


def test_metadata_that_is_not_sparks_stays_as_it_is() -> None:
    """Nothing is made up."""
    assert Clone("copy", lambda: "x").rewrite("metadata", b"mine") == b"mine"
