"""Why a query stopped, in one word, and whether that is a defect."""

from __future__ import annotations

import re

from holdfast import errors

_OURS = {
    name
    for name, kind in vars(errors).items()
    if isinstance(kind, type) and issubclass(kind, errors.HoldfastError)
}
# A proxy that lies makes every error of ours possible, but for these.
_DEFECTS = ("a defect in holdfast", "written from another plan")
# What is said where executors or the JVM were taken away, or the driver slept while it connected.
_OTHERS = {
    "the JVM is gone": ("Py4JNetworkError", "Connection refused", "Py4JError", "no answer within"),
    "the context is gone": ("SparkContext was shut down", "stopped SparkContext", "cancelled"),
    "tasks failed": ("Job aborted due to stage failure",),
    "the database did not answer in time": ("psycopg.errors.ConnectionTimeout",),
}


def why(text: str) -> tuple[str, bool]:
    """The name of our error, or what became of the rest; nothing else may stop a query."""
    names = [name for name in re.findall(r"\b([A-Z]\w+Error): ", text) if name in _OURS]
    is_defect = any(word in text for word in _DEFECTS)
    if names:
        return names[0], is_defect
    for name, words in _OTHERS.items():
        if any(word in text for word in words):
            return name, is_defect
    return "no clear reason", True
