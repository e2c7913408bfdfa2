"""The JVM's interface to Python is the one that Python implements."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from holdfast.spark.bridge import PythonSide

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TYPES = {"str": "java.lang.String", "int": "long", "bool": "boolean"}


def test_every_method_has_the_same_arguments_on_both_sides(spark: SparkSession) -> None:
    """Names, order and types; the first is the secret, and an answer is text."""
    jvm: Any = spark.sparkContext._jvm
    java = {
        method.getName(): [
            method.getReturnType().getName(),
            *(each.getName() for each in method.getParameterTypes()),
        ]
        for method in jvm.holdfast.PythonSide._java_lang_class.getMethods()
    }
    python = {}
    for name, method in inspect.getmembers(PythonSide, inspect.isfunction):
        if not name.startswith("_"):
            found = inspect.signature(method)
            _, first, *others = found.parameters.values()
            assert (first.name, first.annotation) == ("secret", "str")
            given = [found.return_annotation, *(each.annotation for each in (first, *others))]
            python[name] = [TYPES[each] for each in given]
    assert python == java
