"""Arguments and options that commands share, and what --help says about all of them."""

from typing import Annotated

import typer

from holdfast.cli.exits import EXIT_CODES
from holdfast.report.documents import json_keys

Target = Annotated[
    str,
    typer.Argument(metavar="TARGET", help="STORE_URL/QUERY, or QUERY with HOLDFAST_STORE set."),
]
StoreTarget = Annotated[
    str,
    typer.Argument(
        metavar="TARGET",
        help="STORE_URL or STORE_URL/QUERY; by default what HOLDFAST_STORE names.",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="One JSON document on stdout, nothing else.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the stack trace of an error.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do it; without this, only say what.")]
Checkpoint = Annotated[
    str,
    typer.Option(
        "--checkpoint",
        "-c",
        metavar="N|TAG",
        help="Which checkpoint; by default what a start takes.",
    ),
]
Shallow = Annotated[
    bool, typer.Option("--shallow", help="Look objects up, but do not read and compare them.")
]

DRY = "Nothing was changed: add --yes to do it."

ADDRESSES = """\
\b
Addresses
  s3://bucket/prefix              a store
  s3://bucket/prefix/orders       the query "orders" in it, nested names too
  file:///data/holdfast/orders    the same in a local directory
  orders                          in the store that HOLDFAST_STORE names
  holdfast:///orders              the same, as checkpointLocation has it

\b
Walking up from the whole path, the nearest level that holds
.holdfast/certificate.json is the store, and the rest is the query.
Without one anywhere, the path is a query or a plain checkpoint store if it
holds manifests/ or checkpoints/checkpoint_N/, else a store.
Names are written plainly or percent-escaped. Options of an S3 store follow
a "?": s3://bucket/prefix/orders?endpoint_url=http://127.0.0.1:9000"""

EXITS = "\b\nExit codes\n" + "\n".join(
    f"  {code:>3}  {meaning}" for code, meaning in EXIT_CODES.items()
)

ENVIRONMENT = """\
\b
Environment
  HOLDFAST_STORE    the default store
  HOLDFAST_DEBUG=1  as --debug
  NO_COLOR=1        no colours
  AWS_*             credentials, as boto3 takes them"""


def keys_help(*documents: type) -> str:
    """What --json prints, from the document itself, so that it cannot be wrong."""
    return "\n\n".join(f"JSON keys: {json_keys(document)}" for document in documents)
