"""A driver of its own: a process with a Spark session that does what it is told over stdin.

One JSON object a line: {"call": "module:function", "args": {…}}; the answer is one line on the
descriptor that the parent gave, {"value": …} or {"error": …}.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import traceback
from typing import Any


def main() -> None:
    answers = os.fdopen(int(sys.argv[1]), "w", buffering=1)
    for line in sys.stdin:
        request = json.loads(line)
        module, _, name = request["call"].partition(":")
        answer: dict[str, Any]
        try:
            answer = {"value": getattr(importlib.import_module(module), name)(**request["args"])}
        except Exception as error:  # noqa: BLE001 - the parent has to be told
            answer = {"error": f"{type(error).__name__}: {error}", "trace": traceback.format_exc()}
        print(json.dumps(answer), file=answers)


if __name__ == "__main__":
    main()
