"""How much of everything one exploration may use, and the settings that follow from it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from holdfast.settings import LIST_PAGE_MAX, ChainSettings


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """Numbers of processes, operations and faults; and how chains are written.

    `late` and `duplicates`: requests that take effect after their sender has given up, or once
    more. `upkeep`: retentions on a thread of a driver, with what that driver has learnt. `varied`:
    every second process has other settings. `window`: of how many batches the files are live.
    `large`: state is uploaded as an object of its own before it is committed. `configs`: from the
    second start on, drivers have a new configuration, and reset the chain if it has the old one.
    """

    drivers: int = 2
    starts: int = 2
    batches: int = 2
    crashes: int = 1
    lost_replies: int = 1
    late: int = 0
    duplicates: int = 0
    corruptions: int = 0
    rollbacks: int = 0
    resets: int = 0
    removals: int = 0
    purges: int = 0
    retentions: int = 0
    sweeps: int = 0
    upkeep: int = 0
    tags: int = 0
    tags_of_tags: int = 0
    untags: int = 0
    clones: int = 0
    clones_of_tags: int = 0
    clones_of_clones: int = 0
    clone_removals: int = 0
    restores: int = 0
    window: int = 1
    keep: int = 1
    full_every: int = 2
    page: int = LIST_PAGE_MAX
    inline: bool = False
    deep: bool = False
    growing: bool = False
    large: bool = False
    varied: bool = False
    configs: bool = False


@lru_cache
def settings(bounds: Bounds, variant: int = 0) -> ChainSettings:
    """Packs are all inline, all outside, or as they grow first the one and then the other."""
    differs = bounds.varied and variant % 2
    return ChainSettings(
        retain=bounds.keep + 1 if differs else bounds.keep,
        full_every=bounds.full_every + 1 if differs else bounds.full_every,
        # One small batch fits inline, the two that a claim carries do not, nor does a large one.
        inline_bytes_max=1 << 20 if bounds.inline or differs else 180 if bounds.growing else 0,
        hint_every=0,
        claim_attempts_max=3,
        relist_max=4,
        parallel=1,
    )
