"""Paths of distributed checkpoints: ours, and the seed's without the "/" after the id."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import ConfigError
from holdfast.ids import CheckpointId
from holdfast.layout import CheckpointPaths, DistributedKey
from holdfast.objectstore import check_key

ID = CheckpointId.parse("0190b6d5-3b7c-7def-8123-456789abcdef")
BASES = ["", "checkpoints/", "a/b", "operators/"]
NAMES = st.text(min_size=1, max_size=16) | st.sampled_from(["/", "..", "a/b", "\x00", "%2F"])
PARTITIONS = st.integers(min_value=0, max_value=2**32 - 1)


def built(paths: CheckpointPaths, name: str, partition: int) -> list[tuple[str, DistributedKey]]:
    return [
        (paths.manifest(ID), DistributedKey(checkpoint=ID, manifest=True)),
        (
            paths.snapshot(ID, name, partition),
            DistributedKey(checkpoint=ID, operator=name, partition=partition),
        ),
        (
            paths.delta(ID, name, partition),
            DistributedKey(checkpoint=ID, operator=name, partition=partition, is_delta=True),
        ),
        (paths.source_offset(ID, name), DistributedKey(checkpoint=ID, source=name)),
    ]


def test_the_paths_are_those_of_the_layout() -> None:
    """Every path method gives exactly the documented key."""
    paths = CheckpointPaths()
    root = f"checkpoints/{ID}/"
    assert paths.latest_pointer() == "checkpoints/_latest"
    assert paths.checkpoint_dir(ID) == root
    assert paths.manifest(ID) == f"{root}manifest.json"
    assert paths.snapshot(ID, "agg", 3) == f"{root}operators/agg/partition-3.snap"
    assert paths.delta(ID, "agg", 3) == f"{root}operators/agg/partition-3.delta"
    assert paths.source_offset(ID, "kafka") == f"{root}offsets/kafka.json"
    assert paths.seed_manifest(ID) == f"checkpoints/{ID}manifest.json"


@given(st.sampled_from(BASES), NAMES, PARTITIONS)
def test_both_forms_parse_to_the_same(base: str, name: str, partition: int) -> None:
    """With or without the "/" after the id, a key means the same."""
    paths = CheckpointPaths(base)
    for key, parsed in built(paths, name, partition):
        assert paths.parse(key) == parsed
        assert paths.parse(key.replace(f"{ID}/", f"{ID}", 1)) == parsed


@given(NAMES, PARTITIONS)
def test_every_key_is_one_that_a_store_takes(name: str, partition: int) -> None:
    """No operator's or source's name can leave its checkpoint's directory."""
    paths = CheckpointPaths()
    for key, _ in built(paths, name, partition):
        assert check_key(key).startswith(paths.checkpoint_dir(ID))


@given(st.sampled_from(BASES), st.text(max_size=40))
def test_parsing_never_raises(base: str, text: str) -> None:
    """Whatever a stranger put on the store, a listing goes on."""
    paths = CheckpointPaths(base)
    for key in (text, paths.base_prefix + text, paths.checkpoint_dir(ID) + text):
        paths.parse(key)


@pytest.mark.parametrize(
    "key",
    [
        "checkpoints/_latest",
        "checkpoints/state-000001.bin",
        f"checkpoints/{ID}//manifest.json",
        f"checkpoints/{str(ID).upper()}/manifest.json",
        f"checkpoints/{ID}/operators/agg/partition-4294967296.snap",
        f"checkpoints/{ID}/operators/agg/partition-01.snap",
        f"checkpoints/{ID}/operators/a/b/partition-1.snap",
        f"other/{ID}/manifest.json",
    ],
)
def test_another_key_is_not_ours(key: str) -> None:
    """The folder is shared with other objects, which are left alone."""
    assert CheckpointPaths().parse(key) is None


@pytest.mark.parametrize("partition", [-1, 2**32])
def test_a_partition_beyond_32_bits_is_refused(partition: int) -> None:
    """No key is built that no reader could parse."""
    with pytest.raises(ConfigError):
        CheckpointPaths().snapshot(ID, "agg", partition)


@given(st.sampled_from(BASES), NAMES, PARTITIONS)
def test_a_relative_path_leads_back_to_its_key(base: str, name: str, partition: int) -> None:
    """What a manifest holds does not name the base, and means the same key again."""
    paths = CheckpointPaths(base)
    for key, _ in built(paths, name, partition):
        relative = paths.relative(ID, key)
        assert str(ID) not in relative
        assert paths.artifact(ID, relative) == key


@pytest.mark.parametrize("slash", ["", "/"])
def test_a_whole_key_in_a_manifest_is_taken_as_it_is(slash: str) -> None:
    """The seed stores whole keys as paths, in its own form."""
    key = f"checkpoints/{ID}{slash}operators/a/b/partition-0.snap"
    assert CheckpointPaths().artifact(ID, key) == key


def test_a_base_gets_its_slash() -> None:
    """`prefix` and `prefix/` are the same place."""
    assert CheckpointPaths("prefix").manifest(ID) == CheckpointPaths("prefix/").manifest(ID)
