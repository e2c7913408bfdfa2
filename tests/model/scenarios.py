"""What is explored: each scenario mixes other things, within bounds that it can exhaust or not."""

from __future__ import annotations

from dataclasses import replace

from tests.model.bounds import Bounds

QUIET = Bounds(crashes=0, lost_replies=0)
FULL = replace(QUIET, full_every=1)

SCENARIOS: dict[str, Bounds] = {
    "claims alone, a crash and a lost reply": Bounds(batches=0),
    "one batch, a crash and a lost reply": Bounds(batches=1),
    "one batch, everything inline": Bounds(batches=1, inline=True),
    "one batch, corruption and a crash": Bounds(batches=1, corruptions=1, lost_replies=0),
    "one driver, crash after crash": Bounds(drivers=1, starts=3, crashes=2, lost_replies=0),
    "two drivers, a crash and a lost reply": Bounds(),
    "two drivers, three starts": Bounds(starts=3, lost_replies=0),
    "three drivers": replace(QUIET, drivers=3, starts=3, batches=1),
    "three drivers, a crash and a lost reply": Bounds(drivers=3, starts=3, batches=1),
    "retention": replace(FULL, batches=3, retentions=1),
    "retention, twice, with a crash": replace(FULL, retentions=2, crashes=1),
    "retention of incremental manifests": Bounds(batches=3, retentions=1, lost_replies=0),
    "corruption": Bounds(corruptions=1, lost_replies=0),
    "corruption, twice": replace(QUIET, batches=3, corruptions=2),
    "corruption and retention": replace(FULL, corruptions=1, retentions=1),
    "rollback": replace(QUIET, rollbacks=1, lost_replies=1),
    "rollback and retention": replace(FULL, batches=3, rollbacks=1, retentions=1),
    "rollback and corruption": replace(QUIET, drivers=1, rollbacks=1, corruptions=1, crashes=1),
    "tags and retention": replace(FULL, drivers=1, batches=3, tags=2, retentions=1),
    "a tag and two retentions": replace(FULL, drivers=1, starts=1, tags=1, retentions=2),
    "a clone and retention": replace(FULL, drivers=1, batches=3, clones=1, retentions=1),
    "everything inline": Bounds(inline=True),
    "packs that outgrow the manifest": Bounds(
        batches=3, growing=True, full_every=9, lost_replies=0
    ),
    "requests that arrive late": replace(QUIET, batches=1, late=1),
    "requests that arrive late, and retention": replace(FULL, batches=3, late=1, retentions=1),
    "requests that take effect twice": replace(QUIET, batches=1, duplicates=1),
    "large files and retention": replace(FULL, batches=3, large=True, retentions=1),
    "a driver's own retention": replace(FULL, batches=3, upkeep=1),
    "a driver's own retention beside another": replace(FULL, batches=3, upkeep=1, retentions=1),
    "a removal and a crash": replace(QUIET, removals=1, crashes=1),
    "a removal and a restart": replace(QUIET, batches=1, starts=3, removals=1),
    "a purge and a late request": replace(QUIET, drivers=1, late=1, purges=1, full_every=1),
    "a reset": replace(QUIET, resets=1, lost_replies=1),
    "two configurations": replace(QUIET, batches=1, starts=3, configs=True),
    "tags that come and go, and a late request": replace(
        FULL, drivers=1, starts=1, batches=3, tags=2, untags=1, late=1, retentions=1
    ),
    "a tag of a tag": replace(
        FULL, drivers=1, starts=1, batches=3, tags=1, tags_of_tags=1, untags=1, retentions=1
    ),
    "a clone of a clone": replace(
        FULL,
        drivers=1,
        starts=1,
        batches=3,
        clones=1,
        clones_of_clones=1,
        clone_removals=1,
        retentions=1,
    ),
    "a clone and a removal": replace(
        FULL, drivers=1, starts=1, batches=3, tags=1, clones_of_tags=1, removals=1, crashes=1
    ),
    "a crash, a tag and incremental manifests": replace(
        QUIET, drivers=1, starts=2, batches=3, crashes=1, tags=1, retentions=1, window=2
    ),
    "settings that differ": replace(QUIET, batches=3, varied=True, retentions=1),
    "listings of several pages": replace(FULL, batches=3, page=2, retentions=1, tags=1),
    "everything": Bounds(drivers=3, starts=4, corruptions=1, rollbacks=1, retentions=1, tags=1),
}

# The quick tier: most schedules where they are short, and some of everything.
QUICK: dict[str, int] = {
    **dict.fromkeys(SCENARIOS, 130),
    "claims alone, a crash and a lost reply": 5800,
    "one batch, a crash and a lost reply": 4000,
    "one batch, everything inline": 2000,
    "one batch, corruption and a crash": 4000,
    "everything": 100,
}
