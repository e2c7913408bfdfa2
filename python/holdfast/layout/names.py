"""Names that people choose, as segments of keys and back."""

from __future__ import annotations

from urllib.parse import quote, unquote

from holdfast.errors import ConfigError

SEGMENT_BYTES_MAX = 200


def escape_name(name: str) -> str:
    """One key segment for any name: letters, digits and `-_.~` stay, the rest is %XX.

    Raises:
        ConfigError: empty, or more than 200 bytes when escaped.
    """
    try:
        escaped = quote(name, safe="")
    except UnicodeEncodeError as error:
        raise ConfigError("a name is not valid Unicode", name=ascii(name)) from error
    if set(escaped) == {"."}:
        escaped = escaped.replace(".", "%2E")
    if not escaped or len(escaped) > SEGMENT_BYTES_MAX:
        raise ConfigError(
            "a name has 1 to 200 bytes once escaped",
            hint="use a shorter name; characters beyond ASCII count more than once",
            name=name[:40],
            bytes=len(escaped),
        )
    return escaped


def unescape_name(escaped: str) -> str:
    """The name that `escape_name` was given."""
    return unquote(escaped)


def query_path(query: str) -> str:
    """Where a query lives below its store: each segment of its name, escaped.

    Raises:
        ConfigError: empty, too deep for a key, or with a segment that no one may use.
    """
    segments = [segment for segment in query.split("/") if segment]
    if not segments:
        raise ConfigError("a query needs a name", hint='write "holdfast:///orders"', query=query)
    if segments[0] == ".holdfast":
        raise ConfigError("this name is reserved", query=query)
    path = "/".join(escape_name(segment) for segment in segments)
    if len(path) > 3 * SEGMENT_BYTES_MAX:
        raise ConfigError("a query's path has at most 600 bytes once escaped", bytes=len(path))
    return path


def query_of_path(path: str) -> str:
    """The query that lives at this path: `query_path` undone."""
    return "/".join(unescape_name(segment) for segment in path.strip("/").split("/"))
