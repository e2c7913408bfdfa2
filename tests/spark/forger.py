"""Another user of the driver's host, at PySpark's callback server: a raw socket and guesses.

Reads one JSON object from stdin: the port, a user id, the object ids to try, and calls as
`[method, argument, …]`. Prints one JSON object: the reply to each call, by object id and call.
The port is given: /proc/net/tcp tells it to every user, but the tests must not knock on the
servers of others.
"""

from __future__ import annotations

import encodings.idna  # noqa: F401 - loaded before the files of Python are out of reach
import json
import os
import socket
import sys
from typing import IO

_ESCAPES = {"\\": "\\\\", "\n": "\\n", "\r": "\\r"}


def main() -> None:
    order = json.load(sys.stdin)
    os.setgid(order["uid"])
    os.setuid(order["uid"])
    replies: dict[str, dict[str, str]] = {}
    for name in order["ids"]:
        replies[name] = {
            json.dumps(call): called(order["port"], name, call) for call in order["calls"]
        }
    print(json.dumps({"uid": os.getuid(), "replies": replies}))


def called(port: int, name: str, call: list[object]) -> str:
    """One call as the JVM writes it; the reply is one line."""
    method, *arguments = call
    lines = ["c", name, method, *(encoded(argument) for argument in arguments), "e", ""]
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall("\n".join(map(str, lines)).encode())
        with connection.makefile("r", encoding="utf-8") as answers:
            return reply(answers)


def reply(answers: IO[str]) -> str:
    return answers.readline().rstrip("\n")


def encoded(argument: object) -> str:
    """A value of py4j's protocol: its type's letter, then its text."""
    if argument is None:
        return "n"
    if isinstance(argument, bool):
        return f"b{str(argument).lower()}"
    if isinstance(argument, int):
        return f"L{argument}"
    return "s" + "".join(_ESCAPES.get(each, each) for each in str(argument))


if __name__ == "__main__":
    main()
