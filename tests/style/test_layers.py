"""The layers of the package: a module imports only to its right.

cli, spark → report, moving → chain, checkpoint, sessions
           → manifest, pack, layout, ids, sparkfiles ──→ errors, clock, settings
             objectstore ──────────────────────────────→ errors, clock, settings
testing → objectstore, errors, clock, settings        (nothing in the package imports testing)
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "python" / "holdfast"
BASE = {"errors", "clock", "settings", "version"}
FORMATS = {"manifest", "pack", "layout", "ids", "sparkfiles"}
MIDDLE = {"objectstore", *FORMATS, *BASE}
ALLOWED: dict[str, set[str]] = {
    "cli": {"report", "moving", "jobfiles", "chain", "checkpoint", "sessions", *MIDDLE},
    "report": {"chain", "checkpoint", "sessions", *MIDDLE},
    "moving": {"chain", *MIDDLE},
    "chain": MIDDLE,
    "checkpoint": MIDDLE,
    "sessions": MIDDLE,
    "objectstore": BASE,
    "spark": {"report", "jobfiles", "chain", "sessions", *MIDDLE},
    "testing": {"objectstore", *BASE},
    "manifest": {*FORMATS, *BASE} - {"sparkfiles"},
    "sparkfiles": {"manifest", "ids", *BASE},
    "pack": BASE,
    "layout": {"ids", *BASE},
    "ids": {"errors", "clock"},
    "jobfiles": BASE,
    "requirements": set(),
    "errors": set(),
    "clock": set(),
    "version": set(),
    "settings": {"errors"},
}
ONLY_IN = {
    "boto3": "objectstore/s3.py",
    "lz4": "pack/",
    "google_crc32c": "pack/",
    "typer": "cli/",
    "pyspark": "spark/",
    "py4j": "spark/bridge.py",
}


def modules() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


@cache
def imports(path: Path) -> set[str]:
    """Every module that a file imports, by full name; type-checking blocks count too."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            found.update({node.module, *(f"{node.module}.{alias.name}" for alias in node.names)})
    return found


def layer(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def test_a_module_imports_only_to_its_right() -> None:
    """Its own layer is allowed, and nothing imports the package's front door."""
    for path in modules():
        own = layer(path)
        inside = {name.split(".")[1] for name in imports(path) if name.startswith("holdfast.")}
        assert inside - {own} <= ALLOWED[own], path
        assert "holdfast" not in imports(path), path


@pytest.mark.parametrize("library", ONLY_IN)
def test_a_library_is_imported_in_one_place(library: str) -> None:
    """So that it can be replaced there."""
    users = [
        str(path.relative_to(PACKAGE))
        for path in modules()
        if any(name.split(".")[0] == library for name in imports(path))
    ]
    assert [user for user in users if not user.startswith(ONLY_IN[library])] == []
