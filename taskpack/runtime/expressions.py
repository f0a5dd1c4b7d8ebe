"""The functions of the expression language, as generated harness code calls them; on numbers, and on tensors where that makes sense."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

SIZES = {
    "float64": 8,
    "float32": 4,
    "float16": 2,
    "bfloat16": 2,
    "float8_e4m3fn": 1,
    "float8_e5m2": 1,
    "int64": 8,
    "int32": 4,
    "int16": 2,
    "int8": 1,
    "uint8": 1,
    "bool": 1,
}
"""Bytes an element."""


def sizeof(dtype: str) -> int:
    """Bytes of one element of `dtype`; raises ValueError for a name that is no dtype."""
    if dtype not in SIZES:
        raise ValueError(f"`{dtype}` is no dtype")
    return SIZES[dtype]


def ceil_div(a: Any, b: Any) -> Any:
    """The least integer not below a / b, for integers and integer tensors."""
    return -(-a // b)


def round_up(a: Any, b: Any) -> Any:
    """The least multiple of b not below a."""
    return ceil_div(a, b) * b


def is_power_of_2(a: int) -> bool:
    """Whether the integer a is 1, 2, 4, …"""
    return a > 0 and a & (a - 1) == 0


def log2(a: Any) -> Any:
    """Base-2 logarithm; of a tensor, element by element."""
    return a.log2() if hasattr(a, "log2") else math.log2(a)


def sqrt(a: Any) -> Any:
    """Square root; of a tensor, element by element."""
    return a.sqrt() if hasattr(a, "sqrt") else math.sqrt(a)


def exp(a: Any) -> Any:
    """e**a; of a tensor, element by element."""
    return a.exp() if hasattr(a, "exp") else math.exp(a)


def sum_(a: Any) -> Any:
    """The sum of a tensor's elements (integers exactly, floats in float64), as a number."""
    if not hasattr(a, "double"):
        return sum(a)
    return a.double().sum().item() if a.is_floating_point() else a.sum().item()


def min_(*values: Any) -> Any:
    """The least of several numbers, or of one tensor's elements, as a number."""
    return values[0].min().item() if len(values) == 1 and hasattr(values[0], "item") else min(*values)


def max_(*values: Any) -> Any:
    """The greatest of several numbers, or of one tensor's elements, as a number."""
    return values[0].max().item() if len(values) == 1 and hasattr(values[0], "item") else max(*values)


def first(a: Any) -> Any:
    """A tensor's first element, as a number; raises ValueError when it has none."""
    return _at(a, 0)


def last(a: Any) -> Any:
    """A tensor's last element, as a number; raises ValueError when it has none."""
    return _at(a, -1)


def count(a: Any) -> int:
    """How many elements of a tensor are not zero (for a comparison: how often it holds)."""
    return int(a.count_nonzero()) if hasattr(a, "count_nonzero") else sum(bool(v) for v in a)


def _at(a: Any, place: int) -> Any:
    flat = a.flatten() if hasattr(a, "flatten") else a
    if not len(flat):
        raise ValueError("a tensor without elements has no first or last one")
    return flat[place].item() if hasattr(flat[place], "item") else flat[place]


CALLS: dict[str, Callable[..., Any]] = {
    "sizeof": sizeof,
    "min": min_,
    "max": max_,
    "abs": abs,
    "ceil_div": ceil_div,
    "round_up": round_up,
    "is_power_of_2": is_power_of_2,
    "log2": log2,
    "sqrt": sqrt,
    "exp": exp,
    "sum": sum_,
    "first": first,
    "last": last,
    "count": count,
    "len": len,
}
"""What each function of the language is called in an expression, where one is evaluated and not compiled."""
