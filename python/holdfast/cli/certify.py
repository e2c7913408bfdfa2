"""`holdfast certify`: whether a store keeps the rules that checkpoints rest on."""

from typing import Annotated

import typer

from holdfast.cli import exits
from holdfast.cli.border import border
from holdfast.cli.options import Debug, Json, StoreTarget
from holdfast.cli.target import resolve
from holdfast.errors import NotFoundError, UnsupportedError
from holdfast.objectstore import Certificate, ObjectStore
from holdfast.objectstore import certify as race
from holdfast.report import certificate
from holdfast.report.certificate import CertificateReport
from holdfast.settings import CERTIFICATE_KEY

_SECONDS = 3.0


def certify(
    target: StoreTarget = "",
    seconds: Annotated[
        float, typer.Option("--seconds", "-s", min=0.1, help="How long the race lasts.")
    ] = _SECONDS,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Race writers on a store, and keep the verdict there; a start needs one.

    Threads and processes fight for the same keys, and what they write is read and listed. Exit
    code 3 if the store breaks a rule.
    """
    with border(json=json, debug=debug) as output:
        store = resolve(target).store
        with output.working(f"racing writers for {seconds:g} s"):
            found = _certified(store, seconds)
        output.show(CertificateReport.of(found), certificate.render)
        if not found.certified:
            raise typer.Exit(exits.REFUSED)


def _certified(store: ObjectStore, seconds: float) -> Certificate:
    """The verdict, good or bad; a bad one is kept at the store too."""
    try:
        return race(store, seconds=seconds)
    except UnsupportedError:
        try:
            found = Certificate.from_json(store.get(CERTIFICATE_KEY).body)
        except NotFoundError:
            found = None
        if found is None or found.certified:
            raise
        return found
