"""`holdfast show`: everything about one checkpoint, its files, or one file's bytes."""

import base64
import hashlib
from dataclasses import replace
from typing import Annotated

import typer

from holdfast.cli import chainshow, plainshow
from holdfast.cli.border import border
from holdfast.cli.need import need_query
from holdfast.cli.options import Checkpoint, Debug, Json
from holdfast.cli.options import Target as TargetText
from holdfast.cli.output import Output
from holdfast.cli.target import Target, resolve
from holdfast.errors import ConfigError
from holdfast.report import detail_text
from holdfast.report.detail import FileContent, matches


def show(
    target: TargetText,
    pattern: Annotated[
        str, typer.Argument(metavar="PATTERN", help="With --files: like 'state/0/*'.")
    ] = "",
    checkpoint: Checkpoint = "",
    files: Annotated[bool, typer.Option("--files", help="List its files.")] = False,
    cat: Annotated[
        str, typer.Option("--cat", metavar="PATH", help="Write this file's bytes to stdout.")
    ] = "",
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Show everything about one checkpoint: what it is, where it came from, what it holds.

    Of a plain checkpoint store, the files are its operators' states.
    """
    with border(json=json, debug=debug) as output:
        if pattern and not files:
            raise ConfigError("a pattern goes with --files", hint="add --files", pattern=pattern)
        found = need_query(resolve(target).read_only()[0], "show")
        if cat:
            _cat(found, checkpoint, cat, output)
        else:
            _detail(found, checkpoint, pattern if files else None, output)


def _detail(found: Target, checkpoint: str, pattern: str | None, output: Output) -> None:
    """The whole, or with a pattern (which may be empty) the files."""
    read = chainshow.detail if found.format == "chain" else plainshow.detail
    with output.working("reading"):
        detail = read(found, checkpoint)
    if pattern is None:
        output.show(replace(detail, file_list=()), detail_text.render)
        return
    matching = tuple(file for file in detail.file_list if matches(file.path, pattern))
    output.show(replace(detail, file_list=matching), detail_text.render_files)


def _cat(found: Target, checkpoint: str, path: str, output: Output) -> None:
    read = chainshow.content if found.format == "chain" else plainshow.content
    with output.working("reading"):
        number, body = read(found, checkpoint, path)
    if not output.is_json:
        output.write(body)
        return
    content = FileContent(
        store=found.store.url,
        query=found.query,
        number=number,
        path=path,
        size_bytes=len(body),
        sha256=hashlib.sha256(body).hexdigest(),
        text=_text(body),
        base64=base64.b64encode(body).decode(),
    )
    output.show(content, lambda *_: ())


def _text(body: bytes) -> str | None:
    try:
        return body.decode()
    except UnicodeDecodeError:
        return None
