"""Keys of stores and chains: what is built is parsed back, and nothing else is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import ConfigError
from holdfast.layout import (
    Keys,
    Kind,
    Parsed,
    escape_name,
    query_path,
    unescape_name,
    v1_latest_number,
)
from holdfast.objectstore import check_key
from holdfast.settings import U64_MAX

ROOTS = ["", "orders/", "a/b/", "manifests/", "checkpoints/manifests/"]
NUMBERS = st.integers(min_value=0, max_value=U64_MAX - 1)
PARTS = st.integers(min_value=0, max_value=999_999_999)
NAMES = st.text(min_size=1, max_size=16)
NASTY = ["/", "..", ".", "a/../b", "\x00\n\t", "größe", "%2F", "a b", "-", "x" * 200, ".json", "~"]


def built(keys: Keys, number: int, part: int, name: str) -> dict[str, Parsed]:
    """Each key of every kind, and what it must parse to."""
    return {
        keys.manifest(number): Parsed(kind=Kind.MANIFEST, number=number),
        keys.latest: Parsed(kind=Kind.LATEST),
        keys.pruned: Parsed(kind=Kind.PRUNED),
        keys.intent(number): Parsed(kind=Kind.INTENT, number=number),
        keys.state(number): Parsed(kind=Kind.STATE, number=number),
        keys.batch(number, part): Parsed(kind=Kind.BATCH, number=number, part=part),
        keys.file(number, name): Parsed(kind=Kind.FILE, number=number, name=name),
        keys.tag(name): Parsed(kind=Kind.TAG, name=name),
        keys.tag(name, number + 1): Parsed(kind=Kind.TAG, name=name, number=number + 1),
        keys.tag_removal(name, number): Parsed(kind=Kind.TAG_REMOVAL, name=name, number=number),
        keys.clone(name): Parsed(kind=Kind.CLONE, name=name),
        keys.clone(name, name): Parsed(kind=Kind.CLONE, name=name, incarnation=name),
        keys.hold(name): Parsed(kind=Kind.HOLD, incarnation=name),
        keys.source_commit(number): Parsed(kind=Kind.SOURCES, number=number),
        keys.v1_manifest(number): Parsed(kind=Kind.V1_MANIFEST, number=number),
        keys.v1_state(number): Parsed(kind=Kind.V1_STATE, number=number),
        keys.v1_latest: Parsed(kind=Kind.V1_LATEST),
    }


def test_every_kind_of_key_is_in_this_suite() -> None:
    """A new kind of key cannot be added without a round trip."""
    assert {parsed.kind for parsed in built(Keys(""), 1, 1, "x").values()} == set(Kind)


@given(st.sampled_from(ROOTS), NUMBERS, PARTS, NAMES | st.sampled_from(NASTY))
def test_every_key_parses_to_what_it_was_built_from(
    root: str, number: int, part: int, name: str
) -> None:
    """Building and parsing are inverse, for any number and any name, below any root."""
    keys = Keys(root)
    for key, parsed in built(keys, number, part, name).items():
        assert keys.parse(key) == parsed


@given(NAMES | st.sampled_from(NASTY))
def test_every_key_is_one_that_a_store_takes(name: str) -> None:
    """No name can make a key with an empty, dot or control segment."""
    for key in built(Keys("q/"), 1, 1, name):
        assert check_key(key) == key


@given(st.text(max_size=30), st.sampled_from(ROOTS))
def test_parsing_never_raises(text: str, root: str) -> None:
    """Whatever a stranger put on the store, a listing goes on."""
    keys = Keys(root)
    for key in (text, root + text, f"{root}refs/tags/{text}.json", f"{root}manifests/{text}"):
        parsed = keys.parse(key)
        assert parsed is None or key in built(keys, parsed.number, parsed.part, parsed.name or "x")


STRANGERS = [
    "manifests/manifest-00001.json",
    "manifests/manifest-0000001.json",
    "manifests/manifest-000001.json.tmp",
    "manifests/manifest-99999999999999999999.json",
    "manifests/manifest-00000\u0661.json",
    "manifests/x/manifest-000001.json",
    "manifests/manifest--00001.json",
    "checkpoints/batch-000001.0.lz4",
    "checkpoints/batch-000001.01.lz4",
    "checkpoints/checkpoint_000001/other.json",
    "refs/tags/.json",
    "refs/tags/%2f.json",
    "refs/tags/a b.json",
    "refs/tags/%FF.json",
    "refs/tags/" + "x" * 201 + ".json",
    "refs/tags/\udc80.json",
    "",
]


@pytest.mark.parametrize("key", STRANGERS)
def test_a_key_that_we_would_not_write_is_not_ours(key: str) -> None:
    """One spelling of each key; everything else is a stranger's."""
    assert Keys("").parse(key) is None


def test_a_key_below_another_root_is_not_ours() -> None:
    """A root that looks like a folder of ours does not leak into the numbers."""
    assert Keys("a/").parse(Keys("b/").manifest(1)) is None
    assert Keys("").parse(Keys("manifests/").manifest(1)) is None


@given(NAMES | st.sampled_from(NASTY))
def test_a_name_is_one_safe_segment(name: str) -> None:
    """Escaping keeps names apart and gives letters, digits and `-_.~%` only, and no dot segment."""
    escaped = escape_name(name)
    assert unescape_name(escaped) == name
    assert set(escaped) <= set(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~%"
    )
    assert escaped not in ("", ".", "..")


@pytest.mark.parametrize("name", ["", "x" * 201, "ß" * 34, "\ud800"])
def test_a_name_that_no_key_can_hold_is_refused(name: str) -> None:
    """Empty, over-long once escaped, or not Unicode: an error, never a cut-off name."""
    with pytest.raises(ConfigError):
        escape_name(name)


@pytest.mark.parametrize("number", [-1, U64_MAX + 1])
def test_a_number_beyond_64_bits_is_refused(number: int) -> None:
    """No key is built that no reader could parse."""
    with pytest.raises(ConfigError):
        Keys("").manifest(number)


@pytest.mark.parametrize(
    ("prefix", "root"), [("", ""), ("nodes/abc", "nodes/abc/"), ("nodes/abc/", "nodes/abc/")]
)
def test_a_prefix_gets_its_slash(prefix: str, root: str) -> None:
    """The seed's `nodes/abcmanifests/` cannot happen."""
    assert Keys.under(prefix).root == root


def test_a_querys_path_keeps_its_levels() -> None:
    """Slashes of a query's name are levels, doubled ones collapse, the rest is escaped."""
    assert Keys.of_query("/team a//orders/..").root == "team%20a/orders/%2E%2E/"


@pytest.mark.parametrize("query", ["", "/", ".holdfast/x", "/".join(["y" * 190] * 4)])
def test_a_query_that_cannot_be_a_path_is_refused(query: str) -> None:
    """Empty, reserved or too deep."""
    with pytest.raises(ConfigError):
        query_path(query)


POWERS = [10**6, 10**7, 10**19]
EDGES = sorted(
    {n for power in POWERS for n in range(power - 3, power + 4)}
    | {*range(4), 9, 10, 99_999, 100_000, 100_001, 150_000, 999_990, 1_500_000, 15_000_000}
    | {U64_MAX - 1, U64_MAX}
)


@pytest.mark.parametrize("number", EDGES)
def test_no_greater_manifest_sorts_before_the_start_of_its_listing(number: int) -> None:
    """Listing behind `before_manifests_above(n)` misses nothing above n, whatever the widths."""
    keys = Keys("q/")
    start = keys.before_manifests_above(number)
    assert all(keys.manifest(other) > start for other in EDGES if other > number)
    assert keys.manifest(number) > start


def test_the_start_of_a_listing_is_not_the_start_of_everything() -> None:
    """The listing is short: of a million manifests it skips those of lower numbers."""
    keys = Keys("q/")
    start = keys.before_manifests_above(5000)
    assert all(keys.manifest(other) < start for other in range(0, 5000, 7))


def test_the_batches_of_an_epoch_share_a_prefix_with_no_other() -> None:
    """Epoch 100000 does not list those of epoch 1000000."""
    keys = Keys("q/")
    assert keys.batch(100_000).startswith(keys.batches(100_000))
    assert keys.batch(100_000, 7).startswith(keys.batches(100_000))
    assert not keys.batch(1_000_000).startswith(keys.batches(100_000))


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("checkpoint_000002", 2),
        ("checkpoint_1000000\n", 1_000_000),
        (f"checkpoint_{U64_MAX}", U64_MAX),
        (f"checkpoint_{U64_MAX + 1}", None),
        ("checkpoint_x", None),
        ("", None),
        ("000002", None),
    ],
)
def test_the_flat_layouts_pointer(text: str, number: int | None) -> None:
    """`latest.txt` names a number or nothing."""
    assert v1_latest_number(text) == number
