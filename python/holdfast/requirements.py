"""What this package needs of others: told at once where it came by `--py-files` alone.

Imported before anything that uses them.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec

_COMPILED = {"google_crc32c": "google-crc32c", "lz4": "lz4", "orjson": "orjson"}
_MISSING = [name for module, name in _COMPILED.items() if find_spec(module) is None]

if _MISSING:
    raise ModuleNotFoundError(
        f"holdfast needs {', '.join(_MISSING)} in the driver's Python: "
        f"`{sys.executable} -m pip install {' '.join(_COMPILED.values())} boto3`. "
        "They are compiled, so --py-files cannot carry them; conf/README.md tells how clusters do."
    )
