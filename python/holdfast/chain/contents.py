"""Reading files back: each pack is fetched once, whole, and checked before any byte is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.chain.objects import fetch
from holdfast.errors import NotFoundError
from holdfast.objectstore.parallel import gather
from holdfast.pack import decode_some

if TYPE_CHECKING:
    from collections.abc import Collection

    from holdfast.chain.context import Context
    from holdfast.chain.head import Head
    from holdfast.manifest.files import ObjectRef


def read_files(
    context: Context, head: Head, paths: Collection[str] | None = None
) -> dict[str, bytes]:
    """Bytes of the visible files, or of some of them, by path; directories are left out.

    Raises:
        NotFoundError: no such file.
        CorruptionError: an object is missing or is not what was written.
    """
    visible = head.visible()
    wanted = set(visible) if paths is None else set(paths)
    absent = wanted - set(visible)
    if absent:
        raise NotFoundError("no such file", query=context.query, path=min(absent))
    inline = head.carried(wanted)
    found: dict[str, bytes] = {}
    outside: dict[ObjectRef, list[str]] = {}
    for path in wanted:
        ref = visible[path].ref
        if ref is None and not path.endswith("/"):
            found[path] = b""
        elif ref is not None and ref.kind == "inline":
            found[path] = bytes(inline[path])
        elif ref is not None:
            outside.setdefault(ref, []).append(path)
    read = gather(
        lambda item: _from_object(context, *item),
        outside.items(),
        parallel=context.settings.parallel,
    )
    for part in read:
        found.update(part)
    return found


def _from_object(context: Context, ref: ObjectRef, paths: list[str]) -> dict[str, bytes]:
    body = fetch(context, ref)
    if ref.kind == "file":
        return dict.fromkeys(paths, body)
    found = decode_some(body, paths, "a pack", key=ref.key)
    return {path: bytes(view) for path, view in found.items()}
