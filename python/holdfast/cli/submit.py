"""`holdfast submit-args`: the flags with which spark-submit takes Holdfast along.

They are used as `spark-submit $(holdfast submit-args --store URL) job.py`: the shell splits what
is printed at spaces and expands patterns, and reads no quotes. So nothing that is printed may need
any. On a terminal, where people copy it from, it is quoted.
"""

import re
import shlex
import sys
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import quote, urlsplit

import typer

from holdfast.cli.border import border
from holdfast.cli.options import Debug, Json
from holdfast.cli.target import STORE_VARIABLE
from holdfast.errors import ConfigError
from holdfast.jobfiles import PLUGIN, jar_path, package_zip
from holdfast.objectstore import open_store, redact

_STORE = "spark.holdfast.store"
_PLUGINS, _JARS, _FILES = "spark.plugins", "spark.jars", "spark.submit.pyFiles"
# What a shell takes apart or expands in a word that it has read from a command.
_UNSAFE = re.compile(r"[\s*\[\]]")
_SECRETS = re.compile(r"[?&](?:access_key|secret_key)=")


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmitReport:
    """`holdfast submit-args --json`: the words, and what they say."""

    args: tuple[str, ...]
    jars: tuple[str, ...]
    py_files: tuple[str, ...]
    conf: dict[str, str]


def submit_args(
    store: Annotated[
        str,
        typer.Option(
            "--store", metavar="URL", envvar=STORE_VARIABLE, help="The job's default store."
        ),
    ],
    jars: Annotated[
        str,
        typer.Option("--jars", metavar="A,B", help="The job's own jars, to stand beside ours."),
    ] = "",
    py_files: Annotated[
        str,
        typer.Option("--py-files", metavar="A,B", help="The job's own files, as for jars."),
    ] = "",
    conf: Annotated[
        list[str],
        typer.Option("--conf", metavar="KEY=VALUE", help="More settings; repeat as needed."),
    ] = [],  # noqa: B006 - typer copies it
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Print, on one line, the flags that spark-submit needs for jobs on holdfast:.

    \b
    spark-submit $(holdfast submit-args --store s3://bucket/prefix) job.py

    spark-submit takes each of --jars and --py-files once, and spark.plugins too: give the job's
    own to this command, which prints them with Holdfast's (--jars, --py-files, --conf).

    The job calls holdfast.enable(spark). The driver's Python needs what --py-files cannot carry:
    lz4, orjson, google-crc32c and, for S3, boto3. Executors need nothing.
    """  # noqa: D301 - \b is click's, and keeps the line whole
    with border(json=json, debug=debug) as output:
        given = _settings(conf)
        all_jars = [
            *_listed(_word("a jar", jars)),
            *_listed(given.pop(_JARS, "")),
            _word("the shim's jar", str(jar_path())),
        ]
        all_files = [
            *_listed(_word("a file", py_files)),
            *_listed(given.pop(_FILES, "")),
            _word("the package's zip", str(package_zip())),
        ]
        plugins = [*_listed(given.pop(_PLUGINS, "")), PLUGIN]
        settings = {
            _PLUGINS: ",".join(dict.fromkeys(plugins)),
            _STORE: store_url(store),
            **given,
        }
        words = ["--jars", ",".join(all_jars), "--py-files", ",".join(all_files)]
        for key, value in settings.items():
            words += ["--conf", f"{key}={value}"]
        report = SubmitReport(
            args=tuple(words), jars=tuple(all_jars), py_files=tuple(all_files), conf=settings
        )
        if json:
            output.show(report, lambda *_: ())
        else:
            output.write(f"{line_of(words, pasted=sys.stdout.isatty())}\n".encode())


def line_of(words: list[str], *, pasted: bool) -> str:
    """The words for a shell that reads them from this command, or from a person's clipboard."""
    return shlex.join(words) if pasted else " ".join(words)


def store_url(url: str) -> str:
    """The store's URL as one word, what is unsafe in it being escaped.

    Raises:
        ConfigError: it is none, or not one for a command line.
    """
    url = url.strip()
    open_store(url)  # which refuses what is no URL; nothing is sent
    parts = urlsplit(url)
    if parts.scheme == "memory":
        raise ConfigError(
            "a memory: store ends with its process",
            hint="give the job a file:/// or s3:// store",
            store=url,
        )
    if "@" in parts.netloc or _SECRETS.search(url):
        raise ConfigError(
            "a command line is no place for credentials: every user of the machine can read it",
            hint="leave them to AWS_* variables, a profile or a role; or put spark.holdfast.store "
            "into a file for spark-submit --properties-file",
            store=redact(url),
        )
    return _UNSAFE.sub(lambda found: quote(found[0], safe=""), url)


def _settings(conf: list[str]) -> dict[str, str]:
    """The settings that were given, by key.

    Raises:
        ConfigError: one is no setting, or cannot be passed on unquoted.
    """
    found: dict[str, str] = {}
    for text in conf:
        key, equals, _ = text.partition("=")
        if not equals or not key.startswith("spark."):
            raise ConfigError(
                "a setting is spark.key=value",
                hint="for instance --conf spark.holdfast.retain=50",
                conf=redact(text),
            )
        if key == _STORE:
            raise ConfigError("the default store is named once", hint="leave it to --store")
        found[key] = _word("a setting", text).partition("=")[2]
    return found


def _word(what: str, text: str) -> str:
    """The text, if a shell leaves it alone.

    Raises:
        ConfigError: it has a space in it, or a pattern.
    """
    if not _UNSAFE.search(text):
        return text
    hints = {
        "a jar": "rename it, or name its directory otherwise",
        "a file": "rename it, or name its directory otherwise",
        "a setting": "give it to spark-submit itself, in quotes",
        "the package's zip": "set XDG_CACHE_HOME to a directory without such a character",
    }
    raise ConfigError(
        f"{what} holds a space or a pattern, which the shell would take apart",
        hint=hints.get(what, "install holdfast into a path without such a character"),
        text=redact(text),
    )


def _listed(text: str) -> list[str]:
    return [part for part in text.split(",") if part]
