"""A JVM that is none: keeps a spool as the shim does, and tells the host what Spark would do."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.spark.shown import Fetched

if TYPE_CHECKING:
    from holdfast.spark.host import Host, Recovered
    from holdfast.spark.tickets import Ticket


class FakeJvm:
    """One query as the JVM sees it: the catalog of a recovery, and changes since the last event."""

    def __init__(self, host: Host, query: str = "orders", *, store: str = "") -> None:
        self.host, self.store, self.query = host, store, query
        self.key = f"{store}/{query}"
        self.start()

    def start(self) -> Recovered:
        self.recovered = self.host.start(self.store, self.query)
        self.claim = self.recovered.claim
        self._segment = Path(self.recovered.directory) / "shim-1"
        self._lines: list[str] = []
        self._clock = 1_000
        return self.recovered

    def write(self, path: str, body: bytes) -> None:
        """Publish a small file."""
        offset = self._segment.stat().st_size if self._segment.exists() else 0
        with self._segment.open("ab") as file:
            file.write(body)
        self._clock += 1
        self._lines.append(f"f\t{path}\t{self._clock}\t{len(body)}\t{self._segment.name}\t{offset}")

    def upload(self, path: str, body: bytes) -> Ticket:
        """Publish a large file, as an executor does on a shared disk."""
        digest = hashlib.sha256(body).hexdigest()
        ticket = self.host.sign(self.key, self.claim, len(body), [digest])
        Path(ticket.address).parent.mkdir(parents=True, exist_ok=True)
        Path(ticket.address).write_bytes(body)
        self._object("o", path, ticket)
        return ticket

    def move(self, path: str, to: str, ticket: Ticket) -> None:
        """Rename a large file."""
        self._object("m", to, ticket)
        self.remove(path)

    def leave(self, ticket: Ticket) -> None:
        """A large file that was uploaded, and came too late or was never published."""
        self._lines.append(f"g\t{ticket.key}")

    def _object(self, kind: str, path: str, ticket: Ticket) -> None:
        self._clock += 1
        self._lines.append(
            f"{kind}\t{path}\t{self._clock}\t{ticket.size}\t{ticket.sha256}\t0\t{ticket.key}"
        )

    def remove(self, path: str) -> None:
        self._lines.append(f"x\t{path}")

    def tell(self) -> str:
        text = "".join(f"{line}\n" for line in self._lines)
        self._lines.clear()
        return text

    def run_batch(self, batch: int, **state: bytes) -> str:
        """One whole batch; `state` are files of partition 0 by name, dots for underscores."""
        if f"offsets/{batch}" not in self.catalog():
            self.write(
                f"offsets/{batch}", f'v1\n{{"batchWatermarkMs":7}}\n{{"n":{batch}}}'.encode()
            )
            self.host.intent(self.key, self.claim, batch, self.tell())
        for name, body in state.items():
            self.write(f"state/0/0/{name.replace('_', '.').lstrip('v')}", body)
        self.write(f"commits/{batch}", b"v1\n{}")
        return self.host.commit(self.key, self.claim, batch, self.tell())[0]

    def catalog(self, found: Recovered | None = None) -> dict[str, bytes | None]:
        """Every file that is shown, with its bytes where they came along."""
        shown = found or self.recovered
        folder = Path(shown.directory)
        segment = (folder / shown.segment).read_bytes() if shown.segment else b""
        files: dict[str, bytes | None] = {}
        for line in (folder / shown.catalog).read_text().splitlines():
            path, size, _, offset = line.split("\t")
            at = int(offset)
            files[path] = segment[at : at + int(size)] if at >= 0 else None
        return files

    def read(self, path: str) -> bytes:
        """A file's bytes, fetched if they did not come along."""
        known = self.catalog()[path]
        if known is not None:
            return known
        found = self.host.fetch(self.key, self.claim, path)
        assert isinstance(found, Fetched)
        places = {name: offset for name, _, offset in found.files}
        body = (Path(self.recovered.directory) / found.segment).read_bytes()
        following = min((at for at in places.values() if at > places[path]), default=len(body))
        return body[places[path] : following]
