"""The plan of a batch: the driver's files that say what the batch will read."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass, field
from typing import Any

from holdfast.manifest.fields import I64_MAX, Fields, decode_base64
from holdfast.manifest.files import FileTable
from holdfast.pack import decode_some


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What batch `batch` reads, as first made durable by intent `number`.

    Small files are in `pack`, an LCB1 batch; large ones are objects that were uploaded before.
    `notes` are the adapter's own, such as the state of a sink.
    """

    batch: int
    number: int
    files: FileTable
    pack: bytes = b""
    notes: dict[str, Any] = field(default_factory=dict)

    def contents(self) -> dict[str, bytes]:
        """Bytes of the small files by path.

        Raises:
            CorruptionError: the plan lists one that it does not carry.
        """
        inline = [file.path for file in self.files if file.ref and file.ref.kind == "inline"]
        found = decode_some(self.pack, inline, "a plan", batch=self.batch) if inline else {}
        return {path: bytes(body) for path, body in found.items()}

    def digest(self) -> str:
        """Equal for plans that read the same: paths and bytes count, times do not."""
        contents = self.contents()
        hasher = hashlib.sha256()
        for entry in sorted(self.files):
            body = contents.get(entry.path)
            content = (
                hashlib.sha256(body).hexdigest()
                if body is not None
                else (entry.ref.sha256 if entry.ref else "")
            )
            hasher.update(f"{entry.path}\0{content}\0".encode())
        return hasher.hexdigest()

    def to_json(self) -> dict[str, Any]:
        return {
            "batch": self.batch,
            "intent": self.number,
            "files": self.files.to_json(),
            "pack": base64.b64encode(self.pack).decode(),
            "notes": self.notes,
        }

    @classmethod
    def from_json(cls, value: object, what: str) -> Plan:
        fields = Fields(value, what)
        number = fields.integer("intent")
        pack = decode_base64(fields.text("pack"), f"{what}.pack")
        return cls(
            batch=fields.integer("batch", high=I64_MAX),
            number=number,
            files=FileTable.from_json(fields.object("files"), number=number, has_pack=bool(pack)),
            pack=pack,
            notes=fields.object("notes").rest(),
        )
