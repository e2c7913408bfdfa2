"""House rules that a linter does not know."""

from __future__ import annotations

import ast
import re
import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "python" / "holdfast"
LINES_MAX = 400
STATEMENT_LINES_MAX = 70
BORDERS = ("cli/", "spark/bridge.py", "spark/background.py")


def sources() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def name(path: Path) -> str:
    return str(path.relative_to(PACKAGE))


def test_a_file_has_one_noun() -> None:
    """One past 400 lines has a second one inside; a function past 70 lines does two things."""
    long = [name(path) for path in sources() if path.read_text().count("\n") > LINES_MAX]
    assert long == []
    functions = [
        f"{name(path)}:{node.name}"
        for path in sources()
        for node in ast.walk(tree(path))
        if isinstance(node, ast.FunctionDef)
        and (node.end_lineno or 0) - node.lineno > STATEMENT_LINES_MAX
    ]
    assert functions == []


def test_a_module_says_what_it_is_for() -> None:
    """Its responsibility, in one line that is a sentence or a question."""
    first = {
        name(path): (ast.get_docstring(tree(path)) or "").partition("\n")[0] for path in sources()
    }
    assert [path for path, line in first.items() if not line.endswith((".", ":", "?"))] == []


def test_a_broad_except_passes_the_error_on() -> None:
    """But for the outer borders, it ends with a bare raise or hands the error to who waits."""
    swallowed = [
        f"{name(path)}:{node.lineno}"
        for path in sources()
        for node in ast.walk(tree(path))
        if isinstance(node, ast.ExceptHandler) and _is_broad(node) and not _passes_on(node)
    ]
    assert [place for place in swallowed if not place.startswith(BORDERS)] == []


def _passes_on(node: ast.ExceptHandler) -> bool:
    last = ast.unparse(node.body[-1])
    return last == "raise" or last.endswith(f".set_exception({node.name})")


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
