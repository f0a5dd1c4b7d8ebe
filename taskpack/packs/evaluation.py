"""The value of an expression, its lack of one worded as a mistake of the pack; how it is found travels with the runtime."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from taskpack.runtime import evaluation as runtime
from taskpack.runtime.evaluation import UNKNOWN, Unknown

from .grammar import ExpressionError, place

__all__ = ["UNKNOWN", "Result", "Unknown", "evaluate"]

Result = bool | int | float | str | Unknown


def evaluate(node: ast.expr, values: Mapping[str, Any]) -> Any:
    """The value of a well-typed tree; UNKNOWN where it depends on a name without one. Raises ExpressionError where there is no value."""
    try:
        return runtime.evaluate(node, values)
    except runtime.NoValue as error:
        raise ExpressionError(error.why, *place(error.node), code="P033") from None
