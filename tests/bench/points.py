"""A cost at several sizes."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Line:
    """What is expected to be flat has no explanation."""

    axis: str
    cost: str
    unit: str
    explained: str = ""
    points: dict[int, float] = field(default_factory=dict)
