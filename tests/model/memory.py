"""Pure functions, remembered while schedules are explored.

Schedule after schedule reads the same few bytes and keys. What these functions give depends on
nothing but their arguments, and no step of the protocol is in them, so a run with them and a run
without them are the same run.
"""

from __future__ import annotations

from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING
from unittest.mock import patch

from holdfast.chain import read, refs
from holdfast.layout import Keys, Parsed
from holdfast.manifest.record import decode_chain_manifest

if TYPE_CHECKING:
    from collections.abc import Iterator

_REMEMBERED_MAX = 1 << 12


@contextmanager
def remembering() -> Iterator[None]:
    """Decode each manifest and parse each key once; what cannot be read is read every time."""
    decode = lru_cache(_REMEMBERED_MAX)(decode_chain_manifest)
    remembered = lru_cache(_REMEMBERED_MAX)(Keys.parse)

    def parse(keys: Keys, key: str) -> Parsed | None:
        return remembered(keys, key)

    with (
        patch.object(read, "decode_chain_manifest", decode),
        patch.object(refs, "decode_chain_manifest", decode),
        patch.object(Keys, "parse", parse),
    ):
        yield
