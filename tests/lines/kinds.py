"""Every kind of query, by name."""

from __future__ import annotations

from tests.lines import operators, relations
from tests.lines.registry import KINDS

__all__ = ["KINDS", "operators", "relations"]
