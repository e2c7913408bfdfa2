"""A checkpoint as Spark writes it, with all that it leaves lying about."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import orjson

from holdfast.moving.address import parse_address
from holdfast.moving.importing import Imported, bring
from holdfast.moving.origin import Origin, open_origin
from holdfast.moving.stock import survey
from tests.chain.support import chain

if TYPE_CHECKING:
    from pathlib import Path

    from holdfast.chain import Chain
    from holdfast.objectstore import ObjectStore

QUERY_ID = "ad8248b4-5777-4e6b-bd9f-4950cc723b25"
STARTED_S = 1_600_000_000
LOCATION = "holdfast:///orders"


def write(root: Path, path: str, body: str | bytes, *, second: int = 0) -> None:
    """A file, its time, and the checksum that Hadoop leaves beside it."""
    target = root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(body.encode() if isinstance(body, str) else body)
    os.utime(target, (STARTED_S + second, STARTED_S + second))
    (target.parent / f".{target.name}.crc").write_bytes(b"crc\0")


def write_stock(root: Path, *, batches: int = 3, unfinished: bool = False) -> Path:
    """Some committed batches of two partitions, and one that was begun."""
    write(root, "metadata", orjson.dumps({"id": QUERY_ID}))
    write(root, "state/0/_metadata/v2/0", state_metadata(root))
    write(root, "state/0/_stateSchema/default/0_a", b"schema")
    for batch in range(batches + unfinished):
        write_plan(root, batch)
        write_state(root, batch)
        if batch < batches:
            write(root, f"commits/{batch}", "v1\n{}", second=batch)
    (root / "offsets" / ".9.0a1b.tmp").write_bytes(b"half")
    (root / "_SUCCESS").write_bytes(b"")
    return root


def write_plan(root: Path, batch: int) -> None:
    conf = {"spark.sql.shuffle.partitions": "2"}
    metadata = orjson.dumps({"batchWatermarkMs": batch * 1000, "conf": conf}).decode()
    write(root, f"sources/0/{batch}", f"v1\nfile {batch}", second=batch)
    write(root, f"offsets/{batch}", f'v1\n{metadata}\n{{"logOffset":{batch}}}', second=batch)


def write_state(root: Path, batch: int) -> None:
    for partition in range(2):
        body = f"state {batch} of {partition}"
        write(root, f"state/0/{partition}/{batch + 1}.delta", body, second=batch)


def state_metadata(root: Path) -> bytes:
    paths = [f"file:{root}/state/0/_stateSchema/default/0_a"]
    return b"v2\n" + orjson.dumps({"stateStoreInfo": [{"stateSchemaFilePaths": paths}]})


def origin(root: Path) -> Origin:
    return open_origin(parse_address(str(root)))


def imported(store: ObjectStore, root: Path) -> tuple[Chain, Imported]:
    """The query "orders", begun with this checkpoint."""
    begun, found = chain(store), origin(root)
    return begun, bring(begun, found, survey(found), location=LOCATION)


def needed(root: Path) -> dict[str, bytes]:
    """What of a checkpoint Spark needs, by a rule that is not the package's own."""
    paths = [path for path in root.rglob("*") if path.is_file() and path.name != "_SUCCESS"]
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in paths
        if not path.name.startswith(".")
    }
