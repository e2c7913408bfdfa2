"""The keys of a checkpoint store and of a query's chain, both directions.

Numbers have at least six digits and are ordered as numbers, never as text:
`manifest-1000000.json` comes after `manifest-999999.json`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from holdfast.errors import ConfigError
from holdfast.layout.names import escape_name, query_path, unescape_name
from holdfast.settings import U64_MAX

if TYPE_CHECKING:
    from collections.abc import Callable

_WIDTH = 6
_NUMBER = r"(?P<number>[0-9]{6,20})"


class Kind(Enum):
    """What a key below a root is for."""

    MANIFEST = "manifest"
    LATEST = "latest"
    PRUNED = "pruned"
    INTENT = "intent"
    STATE = "state"
    FILE = "file"
    BATCH = "batch"
    TAG = "tag"
    TAG_REMOVAL = "removal of a tag"
    CLONE = "clone"
    HOLD = "hold"
    SOURCES = "sources"
    V1_MANIFEST = "v1 manifest"
    V1_STATE = "v1 state"
    V1_LATEST = "v1 latest"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """A parsed key.

    `number` is a checkpoint's number, an epoch, a claim or the generation of a tag, `name` is what
    a person chose, `incarnation` that of the clone which a ref is held for.
    """

    kind: Kind
    number: int = 0
    part: int = 0
    name: str = ""
    incarnation: str = ""


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of one checkpoint store or one query's chain; `root` is empty or ends with "/"."""

    root: str

    @staticmethod
    def of_query(query: str) -> Keys:
        """The keys of the query with this name, nested or not.

        Raises:
            ConfigError: the name cannot be a key.
        """
        return Keys(f"{query_path(query)}/")

    @staticmethod
    def under(prefix: str) -> Keys:
        """The keys below a prefix, which gets its "/" if it lacks one."""
        return Keys(prefix if not prefix or prefix.endswith("/") else f"{prefix}/")

    @property
    def manifests(self) -> str:
        return f"{self.root}manifests/"

    @property
    def intents(self) -> str:
        return f"{self.root}intents/"

    @property
    def checkpoints(self) -> str:
        return f"{self.root}checkpoints/"

    @property
    def v1_checkpoints(self) -> str:
        """What the keys of all checkpoints of the flat layout start with."""
        return f"{self.checkpoints}checkpoint_"

    @property
    def refs(self) -> str:
        return f"{self.root}refs/"

    @property
    def sources(self) -> str:
        return f"{self.root}sources/"

    @property
    def latest(self) -> str:
        return f"{self.manifests}latest.json"

    @property
    def pruned(self) -> str:
        """Where a stand-alone store keeps the greatest id that it has pruned."""
        return f"{self.manifests}pruned.json"

    @property
    def v1_latest(self) -> str:
        return f"{self.checkpoints}latest.txt"

    def manifest(self, number: int) -> str:
        return f"{self.manifests}manifest-{_digits(number)}.json"

    def intent(self, number: int) -> str:
        return f"{self.intents}intent-{_digits(number)}.json"

    def state(self, number: int) -> str:
        return f"{self.checkpoints}state-{_digits(number)}.bin"

    def batch(self, epoch: int, part: int = 0) -> str:
        """A stand-alone batch; a second flush of an epoch is part 1, and so on."""
        suffix = f".{part}" if part else ""
        return f"{self.checkpoints}batch-{_digits(epoch)}{suffix}.lz4"

    def batches(self, epoch: int) -> str:
        """What the keys of all batches of an epoch start with, and no others."""
        return f"{self.checkpoints}batch-{_digits(epoch)}."

    def file(self, claim: int, name: str) -> str:
        """A large file, or a pack that is no commit's, under the number of its writer's claim."""
        return f"{self.checkpoints}files/{_digits(claim)}/{escape_name(name)}"

    def tag(self, name: str, generation: int = 0) -> str:
        """A tag; each time that its name is given anew is a generation, and has its own key.

        Generation 0 is the only one of a name that is never given twice.
        """
        suffix = f"@{_digits(generation)}" if generation else ""
        return f"{self.tags_named(name)}{suffix}.json"

    def tag_removal(self, name: str, generation: int) -> str:
        """The marker that all generations of a tag up to this one are removed."""
        return f"{self.tags_named(name)}@{_digits(generation)}.removed"

    def tags_named(self, name: str) -> str:
        """What all keys of the tag with this name start with; others may, too."""
        return f"{self.refs}tags/{escape_name(name)}"

    def clone(self, query: str, incarnation: str = "") -> str:
        """The ref that is held for one incarnation of a clone, so its key is never used again.

        Refs that were written before incarnations have none.
        """
        suffix = f"@{escape_name(incarnation)}" if incarnation else ""
        return f"{self.refs}clones/{escape_name(query)}{suffix}.json"

    @property
    def holds(self) -> str:
        return f"{self.refs}holds/"

    def hold(self, incarnation: str) -> str:
        """Where one incarnation of this query, a clone, notes at which queries it holds refs."""
        return f"{self.holds}{escape_name(incarnation)}.json"

    def source_commit(self, number: int) -> str:
        """Where all sources stood after a change of their checkpoints."""
        return f"{self.sources}commit-{_digits(number)}.json"

    def v1_manifest(self, number: int) -> str:
        return f"{self.v1_checkpoints}{_digits(number)}/manifest.json"

    def v1_state(self, number: int) -> str:
        return f"{self.v1_checkpoints}{_digits(number)}/state.bin"

    def before_manifests_above(self, number: int) -> str:
        """A `start_after` behind which every manifest with a greater number sorts."""
        return f"{self.manifests}manifest-{_before_above(number)}"

    def before_intents_above(self, number: int) -> str:
        """A `start_after` behind which every intent with a greater number sorts."""
        return f"{self.intents}intent-{_before_above(number)}"

    def parse(self, key: str) -> Parsed | None:
        """What this key is, or nothing if it is not one of ours."""
        if not key.startswith(self.root):
            return None
        folder = key[len(self.root) :].partition("/")[0]
        for pattern, kind, build in _BY_FOLDER.get(folder, ()):
            match = pattern.fullmatch(key, len(self.root))
            if match is None:
                continue
            parsed = _parsed(kind, match.groupdict())
            return parsed if parsed is not None and self._builds(build, parsed, key) else None
        return None

    def _builds(self, build: Callable[[Keys, Parsed], str], parsed: Parsed, key: str) -> bool:
        """Whether we would write exactly this key; a stranger's object may have any name."""
        try:
            return build(self, parsed) == key
        except ConfigError:
            return False


def _parsed(kind: Kind, groups: dict[str, str | None]) -> Parsed | None:
    number = int(groups.get("number") or 0)
    if number > U64_MAX:
        return None
    return Parsed(
        kind=kind,
        number=number,
        part=int(groups.get("part") or 0),
        name=unescape_name(groups.get("name") or ""),
        incarnation=unescape_name(groups.get("incarnation") or ""),
    )


_NAME = r"(?P<name>[^/]+)"
_REF_NAME = r"(?P<name>[^/@]+)"  # an escaped name has no "@"
_PATTERNS: tuple[tuple[re.Pattern[str], Kind, Callable[[Keys, Parsed], str]], ...] = (
    (
        re.compile(rf"manifests/manifest-{_NUMBER}\.json"),
        Kind.MANIFEST,
        lambda keys, parsed: keys.manifest(parsed.number),
    ),
    (re.compile(r"manifests/latest\.json"), Kind.LATEST, lambda keys, _: keys.latest),
    (re.compile(r"manifests/pruned\.json"), Kind.PRUNED, lambda keys, _: keys.pruned),
    (
        re.compile(rf"intents/intent-{_NUMBER}\.json"),
        Kind.INTENT,
        lambda keys, parsed: keys.intent(parsed.number),
    ),
    (
        re.compile(rf"checkpoints/state-{_NUMBER}\.bin"),
        Kind.STATE,
        lambda keys, parsed: keys.state(parsed.number),
    ),
    (
        re.compile(rf"checkpoints/files/{_NUMBER}/{_NAME}"),
        Kind.FILE,
        lambda keys, parsed: keys.file(parsed.number, parsed.name),
    ),
    (
        re.compile(rf"checkpoints/batch-{_NUMBER}(\.(?P<part>[0-9]{{1,9}}))?\.lz4"),
        Kind.BATCH,
        lambda keys, parsed: keys.batch(parsed.number, parsed.part),
    ),
    (
        re.compile(rf"refs/tags/{_REF_NAME}(@{_NUMBER})?\.json"),
        Kind.TAG,
        lambda keys, parsed: keys.tag(parsed.name, parsed.number),
    ),
    (
        re.compile(rf"refs/tags/{_REF_NAME}@{_NUMBER}\.removed"),
        Kind.TAG_REMOVAL,
        lambda keys, parsed: keys.tag_removal(parsed.name, parsed.number),
    ),
    (
        re.compile(rf"refs/clones/{_REF_NAME}(@(?P<incarnation>[^/@]+))?\.json"),
        Kind.CLONE,
        lambda keys, parsed: keys.clone(parsed.name, parsed.incarnation),
    ),
    (
        re.compile(r"refs/holds/(?P<incarnation>[^/]+)\.json"),
        Kind.HOLD,
        lambda keys, parsed: keys.hold(parsed.incarnation),
    ),
    (
        re.compile(rf"sources/commit-{_NUMBER}\.json"),
        Kind.SOURCES,
        lambda keys, parsed: keys.source_commit(parsed.number),
    ),
    (
        re.compile(rf"checkpoints/checkpoint_{_NUMBER}/manifest\.json"),
        Kind.V1_MANIFEST,
        lambda keys, parsed: keys.v1_manifest(parsed.number),
    ),
    (
        re.compile(rf"checkpoints/checkpoint_{_NUMBER}/state\.bin"),
        Kind.V1_STATE,
        lambda keys, parsed: keys.v1_state(parsed.number),
    ),
    (re.compile(r"checkpoints/latest\.txt"), Kind.V1_LATEST, lambda keys, _: keys.v1_latest),
)


_BY_FOLDER = {
    folder: tuple(entry for entry in _PATTERNS if entry[0].pattern.startswith(f"{folder}/"))
    for folder in ("manifests", "intents", "checkpoints", "refs", "sources")
}


def _digits(number: int) -> str:
    if not 0 <= number <= U64_MAX:
        raise ConfigError("a checkpoint number is an unsigned 64-bit integer", number=number)
    return f"{number:0{_WIDTH}}"


def _before_above(number: int) -> str:
    """Digits that sort before those of every greater number.

    Wider numbers sort before narrower ones with greater leading digits, so where a wider number
    would sort before this one, it is the first wider one that counts.
    """
    digits = _digits(number)
    return min(digits, "1" + "0" * (len(digits) - 1))


def v1_latest_number(text: str) -> int | None:
    """The id that a flat layout's `latest.txt` names, if it names one."""
    match = re.fullmatch(r"checkpoint_([0-9]{1,20})", text.strip())
    number = int(match[1]) if match else None
    return number if number is not None and number <= U64_MAX else None
