"""`holdfast validate`: whether checkpoints, tags and clones are whole, down to the last byte."""

from typing import Annotated

import typer

from holdfast.cli import exits
from holdfast.cli.border import border
from holdfast.cli.chainvalidate import chain_report
from holdfast.cli.need import need_query
from holdfast.cli.options import Debug, Json, Shallow
from holdfast.cli.options import Target as TargetText
from holdfast.cli.plainvalidate import plain_report
from holdfast.cli.target import resolve
from holdfast.report import verdicts


def validate(
    target: TargetText,
    checkpoint: Annotated[
        str, typer.Option("--checkpoint", "-c", metavar="N|TAG", help="Only this one.")
    ] = "",
    shallow: Shallow = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Check checkpoints, tags and clones, and say what is wrong with which.

    Reads and hashes every object once, however many checkpoints share it. Exit code 1 if
    anything is invalid.
    """
    with border(json=json, debug=debug) as output:
        found = need_query(resolve(target).read_only()[0], "validate")
        read = chain_report if found.format == "chain" else plain_report
        report = read(found, checkpoint, output, deep=not shallow)
        output.show(report, verdicts.render)
        if not report.valid:
            raise typer.Exit(exits.INVALID)
