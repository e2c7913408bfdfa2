"""Plans: the files that a batch's driver wrote before it ran, and back to those files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.chain.compose import NewFile
from holdfast.manifest.files import FileTable, ObjectRef
from holdfast.manifest.plan import Plan
from holdfast.pack import encode_batch

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def new_plan(
    batch: int, number: int, files: Iterable[NewFile], notes: Mapping[str, Any] | None
) -> Plan:
    """The plan of a batch, first made durable under this number."""
    added = last_of_each(tuple(files))
    small = sorted((file.path, file.body) for file in added if file.body)
    inline = ObjectRef("inline", number=number)
    return Plan(
        batch=batch,
        number=number,
        files=FileTable.of(file.entry(inline) for file in added),
        pack=encode_batch(small) if small else b"",
        notes=dict(notes or {}),
    )


def files_of(plan: Plan) -> tuple[NewFile, ...]:
    """The plan's files again, to be listed by the manifest that commits its batch."""
    contents = plan.contents()
    return tuple(
        NewFile(
            path=file.path,
            mtime_ms=file.mtime_ms,
            body=contents.get(file.path, b""),
            uploaded=None if file.ref is None or file.ref.kind == "inline" else file.ref,
        )
        for file in plan.files
    )


def last_of_each(files: tuple[NewFile, ...]) -> tuple[NewFile, ...]:
    """A path that is written twice is there once, as it was written last."""
    return tuple({file.path: file for file in files}.values())
