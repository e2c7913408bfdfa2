"""The keys of every JSON document, for ever: programs read them."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.cli.border import ErrorDocument
from holdfast.cli.submit import SubmitReport
from holdfast.report.certificate import CertificateReport
from holdfast.report.changes import CloneReport, RemovalReport, RollbackReport, TagReport
from holdfast.report.checkpoints import CheckpointListing
from holdfast.report.detail import CheckpointDetail, FileContent
from holdfast.report.documents import json_keys
from holdfast.report.moves import ExportReport, ImportReport
from holdfast.report.queries import StoreListing
from holdfast.report.recovery import RecoveryDocument
from holdfast.report.retention import CleaningReport
from holdfast.report.verdicts import ValidationReport
from tests.cli.support import holdfast

WRITER = "writer {user, host, application, pid}"
FENCES = f"fences {{claim, {WRITER}, claimed_ms, claimed, last_write_ms, last_write}}"
VERDICT = "[{number, valid, ref, name, files, size_bytes, issues [{severity, message}]}]"

GOLDEN = {
    StoreListing: (
        "store, certificate {verdict, time_ms, time, here}, queries [{query, format, state, "
        "problem, checkpoint, kind, batch, epoch, time_ms, time, size_bytes, files, manifests, "
        f"tags, clones, {WRITER}}}], stores"
    ),
    CheckpointListing: (
        "store, query, format, manifests, more, checkpoints [{number, kind, batch, epoch, "
        "time_ms, time, full, parent, files_added, files_removed, size_bytes, manifest_bytes, "
        f"claim, lineage, {WRITER}, tags, clones, problem}}], refs [{{kind, name, checkpoint, "
        "batch, time_ms, time, retired, problem}]"
    ),
    CheckpointDetail: (
        "store, query, format, number, kind, batch, epoch, time_ms, time, full, base, claim, "
        f"lineage, parent {{number, sha256, query}}, {WRITER}, sha256, size_bytes, files, "
        "files_added, files_removed, watermark, watermark_time, pipeline_hash, "
        "sources [{name, epoch, offsets, metadata}], "
        "sinks [{name, epoch, status, message, outcome, failed}], "
        "objects [{kind, key, size_bytes, sha256, files}], "
        "plans [{batch, intent, files, shown}], tags, clones, notes, newer [{number, reason}], "
        "file_list [{path, size_bytes, mtime_ms, mtime, object}]"
    ),
    FileContent: "store, query, number, path, size_bytes, sha256, text, base64",
    ValidationReport: (
        f"store, query, format, deep, valid, checkpoints {VERDICT}, refs {VERDICT}, "
        "bytes_read, elapsed_s"
    ),
    RecoveryDocument: (
        "store, query, format, deep, chosen, highest, kind, batch, epoch, next_batch, time_ms, "
        f"time, files, size_bytes, {WRITER}, skipped [{{number, reason}}], "
        "plans [{batch, intent, files, shown}], examined, elapsed_s"
    ),
    CleaningReport: (
        "store, query, format, dry_run, keep, kept_from, checkpoints, tombstones, intents, "
        "objects, bytes_freed, protected [{what, reason}], failed [{what, reason}]"
    ),
    TagReport: ("store, query, dry_run, deleted, name, checkpoint, batch, time_ms, time, retired"),
    CloneReport: "store, query, clone, checkpoint, batch, next_batch, files, size_bytes",
    RollbackReport: (
        "store, query, dry_run, target, tag, batch, next_batch, time_ms, time, files, "
        f"size_bytes, newest, undone_to, {FENCES}, number, repaired"
    ),
    ImportReport: (
        "store, query, origin, location, query_id, checkpoint, batch, next_batch, planned, files, "
        "size_bytes, objects, left_behind, unfinished"
    ),
    ExportReport: (
        "store, query, destination, location, checkpoint, tag, batch, next_batch, planned, files, "
        "size_bytes"
    ),
    RemovalReport: (f"store, query, dry_run, purge, objects, bytes_freed, tags, nested, {FENCES}"),
    CertificateReport: (
        "store, verdict, time_ms, time, seconds, threads, processes, "
        "checks [{rule, passed, count, evidence}]"
    ),
    SubmitReport: "args, jars, py_files, conf",
    ErrorDocument: "error, message, hint, details",
}
OUTPUTS: list[tuple[type, tuple[str, ...]]] = [
    (StoreListing, ("ls", "")),
    (CheckpointListing, ("ls", "/orders")),
    (CheckpointListing, ("ls", "/plain")),
    (CheckpointDetail, ("show", "/orders", "--files")),
    (CheckpointDetail, ("show", "/flat")),
    (FileContent, ("show", "/orders", "--cat", "offsets/1")),
    (ValidationReport, ("validate", "/orders")),
    (ValidationReport, ("validate", "/plain")),
    (RecoveryDocument, ("recover", "/eu/clicks")),
    (RecoveryDocument, ("recover", "/flat")),
    (CleaningReport, ("prune", "/orders", "--keep", "1")),
    (CleaningReport, ("prune", "/plain", "--keep", "1")),
    (CleaningReport, ("orphans", "/orders")),
    (TagReport, ("tag", "/orders", "v1", "--delete")),
    (RollbackReport, ("rollback", "/orders", "--to", "3")),
    (RemovalReport, ("rm", "/eu/clicks")),
    (ErrorDocument, ("ls", "/nope")),
]


def shape(value: Any, name: str = "") -> str:
    """A document's keys in the same notation, from what was printed."""
    if name in ("offsets", "metadata", "notes", "details"):
        return ""  # whose keys are data
    if isinstance(value, dict):
        inside = ", ".join(f"{key}{shape(item, key)}" for key, item in value.items())
        return f" {{{inside}}}"
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return f" [{shape(value[0]).strip()}]"
    return ""


@pytest.mark.parametrize("document", GOLDEN, ids=lambda document: document.__name__)
def test_the_keys_of_a_document_stay(document: type) -> None:
    """More may come; none goes, and none is renamed."""
    assert json_keys(document) == GOLDEN[document]


@pytest.mark.parametrize(("document", "args"), OUTPUTS)
def test_what_is_printed_has_these_keys(url: str, document: type, args: tuple[str, ...]) -> None:
    """One document, in this order; an empty list or null hides what would be inside."""
    printed = holdfast(args[0], f"{url}{args[1]}", *args[2:], "--json").json()
    assert list(printed) == [key.split(" ")[0] for key in top_level(GOLDEN[document])]
    for key, item in printed.items():
        inside = shape(item, key)
        assert not inside or f"{key}{inside.split('{')[0]}" in GOLDEN[document]


def top_level(keys: str) -> list[str]:
    """The keys of a document, each with what is inside it."""
    found, depth, start = list[str](), 0, 0
    for place, character in enumerate(f"{keys},"):
        depth += (character in "[{") - (character in "]}")
        if character == "," and depth == 0:
            found.append(keys[start:place].strip())
            start = place + 1
    return found


@pytest.mark.parametrize("command", ["ls", "validate", "recover", "rollback"])
def test_the_help_has_the_keys(command: str) -> None:
    """Where a programmer looks first."""
    assert "JSON keys: store, " in holdfast(command, "--help").out
