"""The command `holdfast`: its commands, its help, and what it does with a wrong command line."""

import io
import sys
from collections.abc import Callable, Sequence
from typing import Annotated, cast

import typer
from typer.main import get_command

from holdfast.cli import (
    certify,
    clean,
    exits,
    ls,
    move,
    recover,
    refs,
    show,
    submit,
    supersede,
    validate,
)
from holdfast.cli.border import ErrorDocument, tell
from holdfast.cli.options import ADDRESSES, ENVIRONMENT, EXITS, keys_help
from holdfast.objectstore import redact
from holdfast.report.certificate import CertificateReport
from holdfast.report.changes import CloneReport, RemovalReport, RollbackReport, TagReport
from holdfast.report.checkpoints import CheckpointListing
from holdfast.report.detail import CheckpointDetail, FileContent
from holdfast.report.moves import ExportReport, ImportReport
from holdfast.report.queries import StoreListing
from holdfast.report.recovery import RecoveryDocument
from holdfast.report.retention import CleaningReport
from holdfast.report.verdicts import ValidationReport
from holdfast.version import VERSION

_CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
# Its own copy of click, or click itself, by version: reached through what typer does export.
_UsageError = cast("type[Exception]", typer.BadParameter.__mro__[1])
_LISTINGS = (StoreListing, CheckpointListing)
_DETAILS = (CheckpointDetail, FileContent)
_CERTIFICATES = (CertificateReport,)

app = typer.Typer(
    name="holdfast",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings=_CONTEXT,
    epilog=f"{ADDRESSES}\n\n{EXITS}\n\n{ENVIRONMENT}",
)

_COMMANDS: tuple[tuple[Callable[..., None], str, tuple[type, ...]], ...] = (
    (ls.ls, "the queries of a store, or the checkpoints of a query", _LISTINGS),
    (show.show, "everything about one checkpoint; its files; a file's bytes", _DETAILS),
    (validate.validate, "are checkpoints, tags and clones whole?", (ValidationReport,)),
    (recover.recover, "what would a start take, and why nothing newer?", (RecoveryDocument,)),
    (clean.prune, "delete old checkpoints", (CleaningReport,)),
    (clean.orphans, "delete what no checkpoint needs", (CleaningReport,)),
    (refs.tag, "hold a checkpoint under a name, or let it go", (TagReport,)),
    (supersede.rollback, "go back to a checkpoint or a tag", (RollbackReport,)),
    (refs.clone, "begin a new query with this one's state", (CloneReport,)),
    (move.import_, "begin a query with a checkpoint that Spark wrote", (ImportReport,)),
    (move.export, "write a checkpoint for Spark to go on with by itself", (ExportReport,)),
    (supersede.rm, "delete a query", (RemovalReport,)),
    (submit.submit_args, "the flags that spark-submit needs", (submit.SubmitReport,)),
    (certify.certify, "does a store keep the rules that checkpoints rest on?", _CERTIFICATES),
)
for _command, _short, _documents in _COMMANDS:
    app.command(
        _command.__name__.strip("_").replace("_", "-"),
        short_help=_short,
        epilog=keys_help(*_documents),
        context_settings=_CONTEXT,
    )(_command)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"holdfast {VERSION}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Look after checkpoints of Spark Structured Streaming on an object store.

    What deletes or supersedes (prune, orphans, rollback, rm, tag --delete) is a dry run that says
    what would happen, unless --yes is given. Every command has --json.
    """
    del version
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), err=True)
        raise typer.Exit(exits.USAGE)


def main(args: Sequence[str] | None = None) -> int:
    """Run a command line, and return its exit code; never raises and never shows a trace."""
    words = list(sys.argv[1:] if args is None else args)
    for stream in (sys.stdout, sys.stderr):
        _take_any_character(stream)
    try:
        code = get_command(app).main(words, prog_name="holdfast", standalone_mode=False)
    except _UsageError as error:
        return _tell_usage(error, json="--json" in words)
    except (KeyboardInterrupt, typer.Abort):
        return exits.INTERRUPTED
    return code if isinstance(code, int) else exits.OK


def _tell_usage(error: Exception, *, json: bool) -> int:
    message = error.format_message() if hasattr(error, "format_message") else str(error)
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "holdfast"
    document = ErrorDocument(
        error="UsageError",
        message=redact(" ".join(message.split())),
        hint=f"see {command} --help",
        details={},
    )
    tell(document, json=json)
    return exits.USAGE


def _take_any_character(stream: object) -> None:
    """A name that a terminal's encoding lacks is shown as an escape, and is no error."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")
