"""House rules that a linter does not know."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "python" / "holdfast"
LINES_MAX = 400
STATEMENT_LINES_MAX = 70
BORDERS = ("cli/", "spark/bridge.py")


def sources() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def name(path: Path) -> str:
    return str(path.relative_to(PACKAGE))


@pytest.mark.parametrize("path", sources(), ids=name)
def test_a_file_has_one_noun(path: Path) -> None:
    """One past 400 lines has a second one inside; a function past 70 lines does two things."""
    text = path.read_text()
    assert text.count("\n") <= LINES_MAX
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef) and node.end_lineno is not None:
            assert node.end_lineno - node.lineno <= STATEMENT_LINES_MAX, node.name


@pytest.mark.parametrize("path", sources(), ids=name)
def test_a_module_says_what_it_is_for(path: Path) -> None:
    """Its responsibility, in one line that is a sentence or a question."""
    docstring = ast.get_docstring(ast.parse(path.read_text()))
    assert docstring
    assert docstring.splitlines()[0].endswith((".", ":", "?"))


@pytest.mark.parametrize("path", sources(), ids=name)
def test_a_broad_except_passes_the_error_on(path: Path) -> None:
    """But for the outer borders, it ends with a bare raise or hands the error to who waits."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ExceptHandler) and _is_broad(node):
            last = ast.unparse(node.body[-1])
            passes_on = last == "raise" or last.endswith(f".set_exception({node.name})")
            assert passes_on or name(path).startswith(BORDERS), node.lineno


def _is_broad(node: ast.ExceptHandler) -> bool:
    return node.type is None or ast.unparse(node.type) in ("Exception", "BaseException")


def test_nothing_of_this_machine_is_committed() -> None:
    """No absolute path of a developer's machine and no registry's host."""
    tracked = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split("\0")
    bad = re.compile(r"/(?:root|home/\w+|work/main)/|artifactory|pypi\.org/simple|proxy\.golang")
    own = Path(__file__).relative_to(ROOT)
    for file in filter(None, tracked):
        path = ROOT / file
        if path.suffix in (".lz4", ".bin", ".png") or not path.is_file() or path == ROOT / own:
            continue
        assert not bad.search(path.read_text(errors="replace")), file
