"""Documents are run: the README's code works, and what it names is there."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.readme import ROOT, readme_code

if TYPE_CHECKING:
    from pathlib import Path

DOCUMENTS = sorted(
    path for path in ROOT.rglob("*.md") if not {".venv", ".git", "build"} & set(path.parts)
)


def test_the_lines_without_spark_run() -> None:
    """As they stand, in an empty process; those with Spark are run in its own tier."""
    run = subprocess.run(
        [sys.executable, "-c", readme_code()[-1]], capture_output=True, text=True, check=True
    )
    assert run.stdout.splitlines()[0] == "2 0 b'0..99'"
    assert "let only one driver run it" in run.stdout


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_of_a_document_leads_somewhere(path: Path) -> None:
    """Relative ones; nothing here asks the network."""
    links = re.findall(r"\]\(([^)#:]+)\)", path.read_text())
    assert [link for link in links if not (path.parent / link).exists()] == []


def test_every_make_target_that_a_document_names_is_there() -> None:
    """`make x` in a document is a target of the Makefile."""
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    named = {
        target
        for path in DOCUMENTS
        for target in re.findall(r"(?:`|^ *)make ([a-z-]+)", path.read_text(), flags=re.MULTILINE)
    }
    assert named <= targets
